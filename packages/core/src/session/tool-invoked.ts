import type { Settlement } from '../results/outcome.ts';
import type { SessionEvent } from './slice.ts';

/** The event that every session gets once for each call that ended, whatever the end. */
export interface ToolInvoked extends SessionEvent, Settlement {
  readonly type: 'ToolInvoked';
}

// Copied field by field: this runs for every call, and spreading an object after other fields costs several times as
// much.
export function toToolInvoked(settlement: Settlement): ToolInvoked {
  const { callId, toolName, input, outcome, startedAt, endedAt, terminal } = settlement;
  const event: ToolInvoked = { type: 'ToolInvoked', callId, toolName, input, outcome, startedAt, endedAt };
  return terminal === undefined ? event : { ...event, terminal };
}
