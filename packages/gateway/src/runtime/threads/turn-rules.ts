import type { TurnOptions } from '@lastcall/core';
import { DEFAULT_NUDGE } from '@lastcall/core/internal';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { ModelSettings } from '../../domain/conversations/turn-settings.ts';
import type { EndingTools } from '../run/ending-tools.ts';

type TurnRules = Pick<TurnOptions, 'batch' | 'terminating'>;

/** How a configuration wants batches to run and turns to end. */
export function turnRules(config: AgentConfig, { listed = [] }: Pick<EndingTools, 'listed'>): TurnRules {
  // The configuration was read from JSON, so no field is present and undefined.
  const { batch, terminating } = config as unknown as TurnRules;
  return {
    ...(batch === undefined ? {} : { batch }),
    ...(terminating === undefined
      ? {}
      : { terminating: { ...terminating, nudgeMessage: naming(terminating.nudgeMessage ?? DEFAULT_NUDGE, listed) } }),
  };
}

/** The reminder, followed by the names of the tools unless it contains them. */
function naming(nudge: string, names: readonly string[]): string {
  return names.every((name) => nudge.includes(name))
    ? nudge
    : `${nudge} The terminating tools are: ${names.join(', ')}.`;
}

/** How the model is asked: as the agent says, and where the request says something else, as the request does. */
export function modelSettingsOf(config: AgentConfig, asked: ModelSettings = {}): Pick<TurnOptions, 'modelSettings'> {
  const settings = { ...(config.settings as ModelSettings | undefined), ...asked };
  return Object.keys(settings).length === 0 ? {} : { modelSettings: settings };
}
