import type { Entry } from '@lastcall/core';
import { originOf } from '../../domain/transcript/machine-rows.ts';
import { decideCallEnd } from './decide-call-end.ts';
import { decideStop } from './decide-end.ts';
import { liveEvent } from './decide-live.ts';
import {
  cancelAllShown,
  extendDraft,
  extendInput,
  recoverCalls,
  refuseCard,
  reportProgress,
  showRequested,
  startCall,
  startInput,
  withdrawDraft,
} from './decide-shown-call.ts';
import { appendEntry, type Decision, type DecisionContext, inTurn } from './decision.ts';
import type { RunEvent } from './run-event.ts';
import type { RunningState, RunState } from './run-state.ts';
import type { CallWrite, Write } from './run-write.ts';

/** What an event changes in a run, and what has to be written because of it. This is a pure function. */
export function decide(
  state: RunState,
  event: RunEvent,
  context: DecisionContext,
): readonly [state: RunState, writes: readonly Write[]] {
  // The run has ended, so later events of its turn are dropped.
  if (state.status === 'ended') return [state, []];
  if (event.type === 'run-closed') {
    const { as, thread, waiting, rows: transcript } = event;
    return [{ status: 'ended', as, thread, waiting, transcript }, []];
  }
  const [next, all] = decideRunning(state, event, context);
  const writes = context.isFork === true ? all.flatMap(withoutSpaces) : all;
  const live = liveEvent(event, context);
  return [next, live === undefined ? writes : [...writes, live]];
}

/** What is left of a write in a fork, whose agent is in spaces only by its own account. */
function withoutSpaces(write: Write): readonly Write[] {
  switch (write.kind) {
    case 'space-event':
    case 'open-card':
    case 'update-card':
    case 'post-response':
    case 'post-reply':
      return [];
    case 'pending-call':
      return [{ ...write, spaceId: null }];
    case 'close-run':
      return [{ ...write, announcedSpaceId: null }];
    default:
      return [write];
  }
}

type RunningEvent = Exclude<RunEvent, { type: 'run-closed' }>;

function decideRunning(state: RunningState, event: RunningEvent, context: DecisionContext): Decision {
  switch (event.type) {
    case 'step-started': {
      // The turn goes on, so the text before this step was not its end.
      const [next, withdrawn] = withdrawDraft({ ...state, isSpaceUndecided: false });
      // The reply was cut off and is requested again, with new ids.
      if (event.attempt === 1) return [next, withdrawn];
      const [after, cancelled] = cancelAllShown(next, 'The reply broke off.', (call) => call.by === event.by);
      return [after, [...withdrawn, ...cancelled]];
    }
    case 'text-written':
      return extendDraft(state, event, context);
    case 'reasoning-written':
    case 'call-began':
    case 'step-ended':
    case 'nudged':
    case 'rewound':
      return [state, []];
    case 'input-started':
      return startInput(state, event, context);
    case 'input-extended':
      return extendInput(state, event);
    case 'progress-reported':
      return reportProgress(state, event);
    case 'entry-appended':
      return decideEntry(state, event);
    case 'call-started':
      return startCall(state, event, context);
    case 'card-refused':
      return refuseCard(state, event);
    case 'call-ended':
      return decideCallEnd(state, event, context);
    case 'calls-recovered':
      return recoverCalls(state, event);
    case 'turn-stopped':
      return decideStop(state, event, context);
  }
}

type Appended = Extract<RunEvent, { type: 'entry-appended' }>;

/** An entry that core appends to the transcript. */
function decideEntry(state: RunningState, { entry, payload, texts = [] }: Appended): Decision {
  return inTurn(
    state,
    (current) => (entry.kind === 'reply' ? showRequested(current, entry, originOf(entry).instanceId) : [current, []]),
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
