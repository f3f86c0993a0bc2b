import type { Settlement } from '@lastcall/core';
import { statusOfOutcome } from '../../domain/calls/call-status.ts';
import type { MessageStatus } from '../../ports/store/schema/tables.ts';
import { cancelShown, completeMessage, withoutCard, withoutShown } from './decide-shown-call.ts';
import { appendEntry, type Decision, type DecisionContext, inTurn } from './decision.ts';
import type { CallEnded } from './run-event.ts';
import type { RunningState } from './run-state.ts';
import type { Write } from './run-write.ts';

type Status = Settlement['outcome']['status'];

/**
 * The end of a call, with everything that belongs to it: what the space sees, its rows, its staged writes, its card.
 */
export function decideCallEnd(state: RunningState, event: CallEnded, context: DecisionContext): Decision {
  const { settlement, json } = event;
  const { callId, outcome } = settlement;
  const { status } = outcome;
  const end: Write = {
    kind: 'call-ended',
    callId,
    status: status === 'pending' ? 'pending' : 'settled',
    outcome: json.outcome,
    outcomeStatus: statusOfOutcome(outcome),
  };
  return inTurn(
    state,
    (current) => showEnd(current, settlement, context),
    (current) =>
      event.isInside === true
        ? [current, []]
        : appendEntry(current, status === 'pending' ? 'pending' : 'settled', json.entry),
    (current) => [moveTo(current, settlement), [end, ...stagedWrites(event), ...endWait(settlement)]],
    (current) => (status === 'pending' ? ask(current, event, context) : endCard(current, event, context)),
    (current) => [current, [{ kind: 'run-event', type: RUN_EVENTS[status], callId, json: json.runEvent }]],
  );
}

/** What the space sees of the end, besides the card. */
function showEnd(
  state: RunningState,
  { callId, toolName, input, outcome }: Settlement,
  context: DecisionContext,
): Decision {
  if (toolName === 'send_message' && outcome.status === 'ok') {
    const { spaceId, replyTo } = outcome.value as { spaceId: string; replyTo?: string };
    const { text } = input as { text: string };
    const isReplied = spaceId === state.replyIn;
    const next = isReplied ? { ...state, replyIn: null } : state;
    return completeMessage(next, { callId, spaceId, text, replyTo }, context);
  }
  if (outcome.status === 'pending') return [state, []];
  // A call that was shown while the model wrote it, but never got a card, is cancelled.
  if (!state.cards.has(callId)) return cancelShown(state, callId, outcome.text);
  return [withoutShown(state, callId), []];
}

/** The writes of `enter_space` announce the agent in the space. */
function moveTo(state: RunningState, { toolName, outcome }: Settlement): RunningState {
  if (toolName !== 'enter_space' || outcome.status !== 'ok') return state;
  // The input may name the space by its number.
  const { spaceId } = outcome.value as { spaceId: string };
  return { ...state, activeSpaceId: spaceId, announcedSpaceId: spaceId };
}

/**
 * A failed call leaves no writes. A waiting call includes this write because it checks for a cancel: a call of a
 * cancelled run must not wait for an answer.
 */
function stagedWrites({ settlement: { callId, outcome }, hasStagedWrites }: CallEnded): readonly Write[] {
  const isApplied = outcome.status === 'pending' || (outcome.status === 'ok' && hasStagedWrites);
  return isApplied ? [{ kind: 'staged-writes', callId }] : [];
}

/** A rewind, or the end of the machine's instance that asked, cancels a call that waits. */
function endWait({ callId, outcome: { status } }: Settlement): readonly Write[] {
  return status === 'cancelled' ? [{ kind: 'end-wait', callId }] : [];
}

function endCard(state: RunningState, event: CallEnded, { endsRun }: DecisionContext): Decision {
  const { settlement, json, isLate = false } = event;
  const { callId, outcome } = settlement;
  if (!state.cards.has(callId)) return [state, []];
  const card = {
    ...{ callId, status: CARD_STATUS[outcome.status], output: json.output },
    callStatus: statusOfOutcome(outcome),
  };
  const isResponse = outcome.status === 'ok' && !isLate && endsRun?.(settlement) === true;
  return [withoutCard(state, callId), [{ kind: 'update-card', ...card, ...(isResponse ? { isResponse } : {}) }]];
}

/** The call keeps its card until it is answered: a rewind of the same run may cancel it. */
function ask(state: RunningState, { settlement, rawInput }: CallEnded, context: DecisionContext): Decision {
  const { callId, toolName, input, outcome } = settlement;
  if (outcome.status !== 'pending') return [state, []];
  const seenIn = state.shown.get(callId)?.spaceId;
  const { kind, display, expiresAt } = outcome;
  const spaceId = context.showsWait(toolName) ? (seenIn ?? state.activeSpaceId) : null;
  const cards = spaceId === null ? state.cards : new Set(state.cards).add(callId);
  const call = { callId, toolName, kind, input, display, expiresAt };
  const unseen = seenIn === undefined ? rawInput : undefined;
  const next = { ...withoutShown(state, callId), cards, mayWait: true };
  return [next, [{ kind: 'pending-call', call, spaceId, rawInput: unseen }]];
}

const CARD_STATUS: Readonly<Record<Status, MessageStatus>> = {
  ok: 'complete',
  error: 'error',
  cancelled: 'cancelled',
  skipped: 'cancelled',
  pending: 'requires_action',
};

const RUN_EVENTS: Readonly<Record<Status, string>> = {
  ok: 'tool-call.complete',
  error: 'tool-call.error',
  cancelled: 'tool-call.cancelled',
  skipped: 'tool-call.skipped',
  pending: 'tool-call.pending',
};
