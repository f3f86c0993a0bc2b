// The plugin: its tools, what the agent is in each mode, and its rules about tools that are not its own.
import { filterToolSet, type Policy } from '@lastcall/core';
import { type Plugin, plugin } from '@lastcall/core/prompt';
import { combat } from './combat.ts';
import { POINTS_TO_WIN } from './game.ts';
import { beastTools } from './plugin-tools.ts';

export const MODES = ['setup', 'start_of_turn', 'main', 'decision'] as const;
export type Mode = (typeof MODES)[number];

const AIM = `You play a duel of beasts. A beast that takes as much damage as it has life falls, and the other player scores. \
With ${POINTS_TO_WIN} points, or when the other side has no beasts left, you win.`;

const CONFIGS: Readonly<Record<Mode, { readonly instructions: string; readonly tools: readonly string[] }>> = {
  setup: {
    instructions:
      'Set up your side: one beast active, others on the bench, with `move_card`. A poor hand you may exchange once with ' +
      '`mulligan`. Finish with `end_phase`.',
    tools: ['search_zone', 'move_card', 'mulligan', 'end_phase', 'concede'],
  },
  start_of_turn: {
    instructions:
      'Your turn begins. `draw` a card. A drowsy beast cannot attack; `set_status` wakes it for an ember. Finish with ' +
      '`end_phase`.',
    tools: ['peek', 'draw', 'set_status', 'end_phase', 'concede'],
  },
  main: {
    instructions:
      'Bring beasts to the bench with `move_card`, attach one ember with `attach_energy`, then `declare_attack`. When the ' +
      'other active beast falls, ask with `create_decision` which beast of their bench comes next, or `declare_victory`. ' +
      'If you see that you have played badly, `rewind`. Finish with `end_turn`.',
    tools: [
      ...['search_zone', 'peek', 'move_card', 'attach_energy', 'declare_attack', 'create_decision', 'rewind'],
      ...['end_turn', 'declare_victory', 'concede'],
    ],
  },
  decision: {
    instructions: 'It is the other player’s turn, and you are asked to choose. Finish with `resolve_decision`.',
    tools: ['search_zone', 'resolve_decision', 'concede'],
  },
};

export const beasts: Plugin<unknown, Mode> = plugin<unknown, Mode>({
  name: 'beasts',
  tools: () => beastTools,
  getAgentConfig: (_, mode, tools) => ({
    instructions: `${AIM}\n\n${CONFIGS[mode].instructions}`,
    tools: filterToolSet(tools, 'include', CONFIGS[mode].tools),
  }),
  hooks: { policies: [beastsStay()] },
});

/** The core's `move_card` does not know attacks and drowsiness, so the plugin forbids what they forbid. */
function beastsStay(): Policy {
  return {
    name: 'beasts-stay',
    slices: [combat],
    beforeCall({ toolName, input }, { session }) {
      if (toolName !== 'move_card') return undefined;
      const { card } = input as { card: string };
      const { hasAttacked, drowsy } = session.read(combat);
      if (hasAttacked) return { deny: 'After an attack nothing moves.' };
      return drowsy.includes(card) ? { deny: 'A drowsy beast stays where it is.' } : undefined;
    },
  };
}
