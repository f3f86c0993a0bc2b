import type { Outcome, Settlement } from './outcome.ts';

/** The events of one call: its start, its progress, and one end. */
export type CallEvent =
  | { readonly type: 'tool-call.start'; readonly callId: string; readonly toolName: string; readonly input: unknown }
  | { readonly type: 'tool-call.progress'; readonly callId: string; readonly toolName: string; readonly value: unknown }
  | (Settlement & { readonly type: CallEndType });

type CallEndType =
  | 'tool-call.complete'
  | 'tool-call.error'
  | 'tool-call.cancelled'
  | 'tool-call.skipped'
  | 'tool-call.pending';

const END_TYPES: Readonly<Record<Outcome['status'], CallEndType>> = {
  ok: 'tool-call.complete',
  error: 'tool-call.error',
  cancelled: 'tool-call.cancelled',
  skipped: 'tool-call.skipped',
  pending: 'tool-call.pending',
};

// Copied field by field: this runs for every call, and spreading an object after other fields costs several times as
// much.
export function endEvent(settlement: Settlement): CallEvent {
  const { callId, toolName, input, outcome, startedAt, endedAt, terminal } = settlement;
  const event = { type: END_TYPES[outcome.status], callId, toolName, input, outcome, startedAt, endedAt };
  return terminal === undefined ? event : { ...event, terminal };
}
