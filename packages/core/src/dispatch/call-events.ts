import type { Outcome, Settlement } from '../results/outcome.ts';

/** What a listener is told of one call: its start, its progress, and one end. */
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

export function endEvent(settlement: Settlement): CallEvent {
  return { ...settlement, type: END_TYPES[settlement.outcome.status] };
}
