import type { Entry } from '@lastcall/core';
import { showRequested } from './decide-shown-call.ts';
import { appendEntry, type Decision, inTurn } from './decision.ts';
import type { RunEvent } from './run-event.ts';
import type { RunningState } from './run-state.ts';
import type { CallWrite, Write } from './run-write.ts';

type Appended = Extract<RunEvent, { type: 'entry-appended' }>;

/** An entry that core appends to the transcript. */
export function decideEntry(state: RunningState, { entry, payload, texts = [] }: Appended): Decision {
  return inTurn(
    state,
    (current) => (entry.kind === 'reply' ? showRequested(current, entry.calls) : [current, []]),
    (current) => appendEntry(current, entry.kind, payload),
    (current) => [current, [...texts.map((text): Write => ({ kind: 'request-text', ...text })), ...callWrites(entry)]],
  );
}

function callWrites(entry: Entry): readonly CallWrite[] {
  if (entry.kind === 'started') return [{ kind: 'call-started', callId: entry.callId }];
  if (entry.kind !== 'reply') return [];
  const { calls, step } = entry;
  return calls.map((call, index) => ({ kind: 'call-planned', call, step, index }));
}
