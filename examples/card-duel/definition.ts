// What the players are: tools, state, plugins and modes. main.ts runs it with the library, and agent.ts as an agent of a gateway.
import { defineAgent } from '@lastcall/gateway';
import { combat } from './combat.ts';
import { coreTools } from './core-tools.ts';
import { type Game, game } from './game.ts';
import { beasts, MODES, type Mode } from './plugin-beasts.ts';
import { describeTable } from './table-view.ts';

export const duel = defineAgent({
  tools: coreTools,
  slices: [game, combat],
  plugins: [beasts],
  modes: MODES,
  mode: ({ session }) => modeOf(session.read(game)),
  observe: describeTable,
  rewind: true,
});

const MODE_OF = { setup: 'setup', start: 'start_of_turn', main: 'main' } as const;

export function modeOf({ phase, decision }: Game): Mode {
  return decision === null ? MODE_OF[phase] : 'decision';
}
