// Core and plugin put together: every mode, built before the game begins. A gateway does the same with a definition.
import { rewindTool } from '@lastcall/core';
import { type AgentMode, buildModes } from '@lastcall/core/prompt';
import { duel } from './definition.ts';
import type { Mode } from './plugin-beasts.ts';

export const modes: Readonly<Record<Mode, AgentMode>> = buildModes({
  modes: duel.modes,
  plugins: duel.plugins,
  ctx: {},
  tools: { ...duel.tools, rewind: rewindTool },
});
