import type { Entry, Usage } from '@lastcall/core';
import { addUsage, noUsage } from '@lastcall/core/internal';
import { toEntryPayload } from '../../domain/transcript/transcript-row.ts';
import { cancelAllShown, cancelled, draftIn } from './decide-shown-call.ts';
import { appendEntry, type Decision, type DecisionContext, inTurn } from './decision.ts';
import type { TurnStopped } from './run-event.ts';
import type { RunningState } from './run-state.ts';
import type { PostReply, Write } from './run-write.ts';

/**
 * The turn is over: the run ends, and the thread is released with it. This also holds if more events wait, because
 * other threads get their turn first. If the transcript is over its budget, it is compacted before the release. The
 * run has ended when this is committed.
 */
export function decideStop(state: RunningState, event: TurnStopped, context: DecisionContext): Decision {
  const { stop, payload, usage, isOverBudget, held } = event;
  const as = stop.reason === 'aborted' ? 'cancelled' : 'completed';
  const { announcedSpaceId } = state;
  const mayWait = state.mayWait || stop.reason === 'suspended';
  const end: Write[] = [
    { kind: 'close-run', as, stop, usage, announcedSpaceId, mayWait, ...(held === undefined ? {} : { held }) },
  ];
  if (!isOverBudget) end.push({ kind: 'release-thread' });
  const reply = postReply(state, event);
  return inTurn(
    state,
    (current) => cancelAllShown(current, 'The run ended.', ({ callId }) => callId !== reply?.messageId),
    (current) => appendEntry(current, 'stop', payload),
    (current) => [current, [...postResponse(current, event, context), ...(reply === undefined ? [] : [reply]), ...end]],
  );
}

/** Posts the text that ended the turn, as the message whose draft people saw, if they saw one. Undefined if it is empty or private. */
function postReply(state: RunningState, { reply }: TurnStopped): PostReply | undefined {
  const { replyIn: spaceId } = state;
  const text = reply?.text.trimStart() ?? '';
  if (reply === undefined || spaceId === null || text === '') return undefined;
  const post = { kind: 'post-reply', spaceId, text } as const;
  const draft = draftIn(state);
  if (draft === undefined || !text.startsWith(draft.shownText)) return { ...post, messageId: reply.messageId };
  return { ...post, messageId: draft.callId, unseen: text.slice(draft.shownText.length) };
}

/** Empty if there is nothing to say, nowhere to say it, or the agent has said it already. */
function postResponse(
  { activeSpaceId: spaceId }: RunningState,
  { response }: TurnStopped,
  { isPostable }: DecisionContext,
): readonly Write[] {
  if (response === undefined || spaceId === null || isPostable?.(response.toolName) !== true) return [];
  const { callId, toolName, text, sentIn } = response;
  if (text.trim() === '' || sentIn.includes(spaceId)) return [];
  return [{ kind: 'post-response', spaceId, callId, toolName, text }];
}

/** The same writes for a run that was cancelled during its last step. Nothing is posted after a cancel was accepted. */
export function asCancelled(writes: readonly Write[]): readonly Write[] {
  // Before it, there may be the ends of steps of a machine's instances.
  const end = writes.findLast((write) => write.kind === 'entry' && write.entry === 'stop');
  const kept = writes.filter(({ kind }) => kind !== 'post-response').flatMap(withoutReply);
  return kept.map((write): Write => {
    if (write.kind === 'close-run') return { ...write, as: 'cancelled', stop: ABORTED.stop };
    return write === end && write.kind === 'entry' ? { ...write, payload: ABORTED_PAYLOAD } : write;
  });
}

/** A draft that people saw is withdrawn. */
function withoutReply(write: Write): readonly Write[] {
  if (write.kind !== 'post-reply') return [write];
  const { messageId: callId, spaceId, unseen } = write;
  return unseen === undefined ? [] : [cancelled({ callId, kind: 'message', spaceId }, 'The run was cancelled.')];
}

const ABORTED: Extract<Entry, { kind: 'stop' }> = { kind: 'stop', stop: { reason: 'aborted' } };
const ABORTED_PAYLOAD = toEntryPayload({ entry: ABORTED });

/** Adds up the usage of the last turn. The entries of a run that continues one begin within it, and so do those of a fork. */
export function usageOf(entries: readonly Entry[]): Usage {
  const turnIndex = Math.max(
    0,
    entries.findLastIndex(({ kind }) => kind === 'turn'),
  );
  return entries
    .slice(turnIndex)
    .reduce((sum, entry) => (entry.kind === 'reply' ? addUsage(sum, entry.usage) : sum), noUsage);
}
