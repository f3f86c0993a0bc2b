import type { Settlement } from '../results/outcome.ts';
import type { SessionEvent } from './slice.ts';

/** The event every session is told once for each call that ended, whatever the end. */
export interface ToolInvoked extends SessionEvent, Settlement {
  readonly type: 'ToolInvoked';
}

// Field by field: every call comes here, and to spread an object after something else costs several times that.
export function toToolInvoked(settlement: Settlement): ToolInvoked {
  const { callId, toolName, input, outcome, startedAt, endedAt, terminal } = settlement;
  const event: ToolInvoked = { type: 'ToolInvoked', callId, toolName, input, outcome, startedAt, endedAt };
  return terminal === undefined ? event : { ...event, terminal };
}
