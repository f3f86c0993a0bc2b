import type { TurnOptions } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';

/** How a configuration wants batches to run and turns to end. */
export function turnRules(config: AgentConfig): Pick<TurnOptions, 'batch' | 'terminating'> {
  // The configuration was read from JSON, so no field is present and undefined.
  const { batch, terminating } = config as unknown as Pick<TurnOptions, 'batch' | 'terminating'>;
  return { ...(batch === undefined ? {} : { batch }), ...(terminating === undefined ? {} : { terminating }) };
}
