import type { Entry } from '@lastcall/core';
import { isTextReply } from '@lastcall/core/internal';
import { type Decision, type DecisionContext, inTurn } from './decision.ts';
import type { CallStarted, CallsRecovered, RunEvent } from './run-event.ts';
import type { RunningState, ShownCall } from './run-state.ts';
import type { SpaceEvent } from './run-write.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** Shows a call in the agent's space as soon as the model begins to write it. Text before a call is not a reply. */
export function startInput(state: RunningState, event: EventOf<'input-started'>, context: DecisionContext): Decision {
  return inTurn(state, withdrawDraft, (current) => showInput(current, event, context));
}

function showInput(
  state: RunningState,
  { callId, toolName, by }: EventOf<'input-started'>,
  context: DecisionContext,
): Decision {
  const isSpaceUndecided = state.isSpaceUndecided || toolName === 'enter_space';
  const next = { ...state, isSpaceUndecided };
  const spaceId = state.activeSpaceId;
  if (isSpaceUndecided || spaceId === null) return [next, []];
  if (toolName === 'send_message')
    return show(next, { callId, kind: 'message', spaceId, shownText: '', by }, messageStart(callId, spaceId, context));
  return context.isVisible(toolName) ? showStart(next, { callId, toolName, spaceId, by }, context) : [next, []];
}

/**
 * Shows text of the model in the space that waits for a reply, as the draft of a message. If a call follows, the draft is withdrawn. The
 * text of a machine is not shown before it is posted, because its instances write to each other too.
 */
export function extendDraft(
  state: RunningState,
  { draftId, text, by }: EventOf<'text-written'>,
  context: DecisionContext,
): Decision {
  const { replyIn: spaceId } = state;
  if (spaceId === null || by !== undefined) return [state, []];
  const draft = shownCall(state, draftId);
  if (draft !== undefined) return extend(state, draft, text);
  const added = text.trimStart();
  if (added === '') return [state, []];
  const call: ShownCall = { callId: draftId, kind: 'message', spaceId, shownText: '', isReply: true };
  return inTurn(
    state,
    (current) => show(current, call, messageStart(draftId, spaceId, context)),
    (current) => extend(current, call, added),
  );
}

export function draftIn(state: RunningState): ShownCall | undefined {
  const draft = [...state.shown.values()].find(({ isReply }) => isReply === true);
  return draft === undefined ? undefined : shownCall(state, draft.callId);
}

/** The model goes on, so what it wrote is not its reply. */
export function withdrawDraft(state: RunningState): Decision {
  return cancelAllShown(state, 'The agent goes on.', ({ isReply }) => isReply === true);
}

export function extendInput(state: RunningState, { callId, delta, text }: EventOf<'input-extended'>): Decision {
  const call = shownCall(state, callId);
  return call === undefined ? [state, []] : extend(state, call, call.kind === 'tool' ? delta : text);
}

/** Shows the progress of a tool. Messages have no progress. */
export function reportProgress(state: RunningState, { callId, value }: EventOf<'progress-reported'>): Decision {
  const call = state.shown.get(callId);
  if (call?.kind !== 'tool') return [state, []];
  const progress = { type: 'tool-call.progress', payload: { callId, value } };
  return [state, [{ kind: 'space-event', spaceId: call.spaceId, ...progress }]];
}

/**
 * The reply is complete. Shows the rest of its calls' inputs (all of it, if the provider does not stream inputs), and
 * cancels shown calls that the reply does not contain: they never run. `by` is the instance of a machine that replied: calls of others
 * are left alone.
 */
export function showRequested(
  state: RunningState,
  reply: Extract<Entry, { kind: 'reply' }>,
  by: string | undefined,
): Decision {
  const inputs = new Map(reply.calls.map(({ callId, input }) => [callId, input]));
  const own = [...state.shown.values()].filter((call) => call.by === by && call.isReply !== true);
  const steps = own.map(({ callId }) => (current: RunningState): Decision => {
    const [call, input] = [shownCall(current, callId), inputs.get(callId)];
    if (call === undefined) return [current, []];
    if (input === undefined) return cancelShown(current, callId, 'The complete reply does not contain this call.');
    return extend(current, call, unseenInput(call, input));
  });
  return inTurn(state, ...(isTextReply(reply) ? [] : [withdrawDraft]), ...steps);
}

/** Opens the card of a visible call with the part of the input that the space has not seen. */
export function startCall(state: RunningState, event: CallStarted, context: DecisionContext): Decision {
  const { callId, toolName, spaceId, input, rawInput } = event;
  return inTurn(
    state,
    (current) => showStart(current, { callId, toolName, spaceId }, context),
    (current) => {
      const call = shownCall(current, callId);
      if (current.cards.has(callId) || call === undefined) return [current, []];
      const unseen = unseenInput(call, rawInput);
      // Added before the card exists: if the call ends in the meantime, its end must be shown on the card and nowhere
      // else.
      const cards = new Set(current.cards).add(callId);
      const next = grow(current, { ...call, shownText: call.shownText + unseen });
      const card = { spaceId: call.spaceId, callId, toolName, input };
      return [{ ...next, cards }, [{ kind: 'open-card', card, unseenInput: unseen }]];
    },
  );
}

/**
 * The agent was removed from the space: it has no card there, and no active space. The space was already notified with
 * the refusal.
 */
export function refuseCard(state: RunningState, { callId, spaceId }: EventOf<'card-refused'>): Decision {
  const activeSpaceId = state.activeSpaceId === spaceId ? null : state.activeSpaceId;
  return [{ ...withoutCard(withoutShown(state, callId), callId), activeSpaceId }, []];
}

export function recoverCalls(state: RunningState, { cards, shown, lost }: CallsRecovered): Decision {
  const next = {
    ...state,
    cards: new Set([...state.cards, ...cards]),
    shown: new Map([...state.shown, ...shown.map((call) => [call.callId, call] as const)]),
  };
  return [next, lost.map((call) => cancelled(call, 'The reply broke off.'))];
}

/** Ends a shown call that will not run, or a message that was not sent. */
export function cancelShown(state: RunningState, callId: string, reason: string): Decision {
  const call = state.shown.get(callId);
  return call === undefined ? [state, []] : [withoutShown(state, callId), [cancelled(call, reason)]];
}

export function cancelAllShown(
  state: RunningState,
  reason: string,
  which: (call: ShownCall) => boolean = () => true,
): Decision {
  const calls = [...state.shown.values()].filter(which);
  if (calls.length === 0) return [state, []];
  const shown = new Map([...state.shown].filter(([, call]) => !which(call)));
  const growing = state.growing !== null && shown.has(state.growing.callId) ? state.growing : null;
  return [{ ...state, shown, growing }, calls.map((call) => cancelled(call, reason))];
}

export interface SentMessage {
  readonly callId: string;
  readonly spaceId: string;
  readonly text: string;
  readonly replyTo: string | undefined;
}

/** Shows the rest of a message before it is complete: all of it, if nothing was shown yet. */
export function completeMessage(state: RunningState, message: SentMessage, context: DecisionContext): Decision {
  const { callId, spaceId, text, replyTo } = message;
  const call = shownCall(state, callId);
  const isContinuation = call !== undefined && call.spaceId === spaceId && text.startsWith(call.shownText);
  const rest = isContinuation ? text.slice(call.shownText.length) : text;
  const start: SpaceEvent[] = isContinuation ? [] : [messageStart(callId, spaceId, context, replyTo)];
  const restWrites = rest === '' ? [] : [deltaOf({ callId, kind: 'message', spaceId }, rest)];
  return inTurn(
    state,
    (current) =>
      isContinuation
        ? [withoutShown(current, callId), []]
        : cancelShown(current, callId, 'The message that was sent differs from the text shown before.'),
    (current) => [current, [...start, ...restWrites]],
  );
}

export function withoutShown(state: RunningState, callId: string): RunningState {
  if (!state.shown.has(callId)) return state;
  const shown = new Map(state.shown);
  shown.delete(callId);
  return { ...state, shown, growing: otherGrowing(state, { callId }) };
}

export function withoutCard(state: RunningState, callId: string): RunningState {
  if (!state.cards.has(callId)) return state;
  const cards = new Set(state.cards);
  cards.delete(callId);
  return { ...state, cards };
}

/** Shows the space that a call will not continue. */
export function cancelled({ callId, kind, spaceId }: Omit<ShownCall, 'shownText'>, reason: string): SpaceEvent {
  return kind === 'message'
    ? { kind: 'space-event', spaceId, type: 'message.cancelled', payload: { streamId: callId, reason } }
    : { kind: 'space-event', spaceId, type: 'tool-call.cancelled', payload: { callId, reason } };
}

function showStart(
  state: RunningState,
  { callId, toolName, spaceId, by }: { callId: string; toolName: string; spaceId: string; by?: string | undefined },
  { runId, agent }: DecisionContext,
): Decision {
  if (state.shown.has(callId)) return [state, []];
  const payload = { streamId: callId, callId, toolName, entityId: agent.entityId, runId };
  const start: SpaceEvent = { kind: 'space-event', spaceId, type: 'tool-call.start', payload };
  return show(state, { callId, kind: 'tool', spaceId, shownText: '', by }, start);
}

function show(state: RunningState, call: ShownCall, start: SpaceEvent): Decision {
  return [
    { ...state, shown: new Map(state.shown).set(call.callId, call), growing: otherGrowing(state, call) },
    [start],
  ];
}

function extend(state: RunningState, call: ShownCall, added: string): Decision {
  if (added === '') return [state, []];
  return [grow(state, { ...call, shownText: call.shownText + added }), [deltaOf(call, added)]];
}

/**
 * A model writes one call after the other, in many pieces. If each piece copied the map, a reply with a thousand calls would occupy the
 * process for seconds.
 */
function grow(state: RunningState, call: ShownCall): RunningState {
  const { shown, growing } = state;
  const isOther = growing !== null && growing.callId !== call.callId;
  if (shown.has(call.callId) && !isOther) return { ...state, growing: call };
  const next = new Map(shown).set(call.callId, call);
  if (isOther) next.set(growing.callId, growing);
  return { ...state, shown: next, growing: call };
}

/** A shown call with all of its text. */
function shownCall({ shown, growing }: RunningState, callId: string): ShownCall | undefined {
  return growing?.callId === callId ? growing : shown.get(callId);
}

function otherGrowing({ growing }: RunningState, { callId }: Pick<ShownCall, 'callId'>): ShownCall | null {
  return growing?.callId === callId ? null : growing;
}

function deltaOf({ callId, kind, spaceId }: Omit<ShownCall, 'shownText'>, delta: string): SpaceEvent {
  return kind === 'message'
    ? { kind: 'space-event', spaceId, type: 'message.delta', payload: { streamId: callId, delta } }
    : { kind: 'space-event', spaceId, type: 'tool-input-delta', payload: { callId, delta } };
}

/** Empty if the input does not begin with what was shown, and for a message, whose input is not shown. */
function unseenInput({ kind, shownText }: ShownCall, rawInput: string): string {
  return kind === 'tool' && rawInput.startsWith(shownText) ? rawInput.slice(shownText.length) : '';
}

function messageStart(
  callId: string,
  spaceId: string,
  { runId, agent }: DecisionContext,
  replyTo?: string | undefined,
): SpaceEvent {
  const reply = replyTo === undefined ? {} : { replyTo };
  const payload = { streamId: callId, messageId: callId, entityId: agent.entityId, runId, ...reply };
  return { kind: 'space-event', spaceId, type: 'message.start', payload };
}
