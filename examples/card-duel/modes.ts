// Core and plugin put together: every mode of both players, built before the game begins.
import { rewindTool } from '@lastcall/core';
import { type AgentMode, buildModes } from '@lastcall/core/prompt';
import type { PlayerId } from './cards.ts';
import { coreTools, type Seat } from './core-tools.ts';
import { beasts, MODES, type Mode } from './plugin-beasts.ts';

export function modesOf(player: PlayerId): Readonly<Record<Mode, AgentMode>> {
  const seat: Seat = { player };
  return buildModes({
    modes: MODES,
    plugins: [beasts],
    ctx: seat,
    tools: { ...coreTools(seat), rewind: rewindTool },
  });
}
