import { ApiError } from '../../domain/api-error.ts';
import { cancelWaiting } from '../../domain/calls/cancel-waiting.ts';
import { forgetUndo, undoFiles } from '../../domain/files/write-files.ts';
import { type UsedGrant, useGrant } from '../../domain/grants/use-grant.ts';
import { assertNotCancelled, lookForCancel } from '../../domain/runs/run-cancelled.ts';
import { openCardIfAllowed, updateCard } from '../../domain/spaces/tool-card.ts';
import { runStream, spaceStream } from '../../domain/streams/stream-names.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { isRowMissing } from '../../ports/store/require-row.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { HeldThread } from '../lease/lease.ts';
import { releaseAndLook, type Waiting } from '../lease/release-thread.ts';
import { mergeDeltas } from '../run/merge-deltas.ts';
import type { EntryWrite, OpenCard, Write } from '../run/run-write.ts';
import { isPost, sharedPost } from '../run/shared-writes.ts';
import { appendRows } from './append-rows.ts';
import type { ApplyContext } from './apply-context.ts';
import { writeCalls } from './call-rows.ts';
import { closeRun } from './close-run.ts';
import { type Posting, preparePosting } from './post-response.ts';
import { writeTexts } from './request-texts.ts';
import { NoLongerShown, requireAudience, spacesChecked, spacesShown } from './space-audience.ts';
import { StagedWriteRefused } from './staged-write-refused.ts';
import { endUnseenCall } from './unended-calls.ts';
import { withExpiry } from './wait-expiry.ts';
import { writeWaitingCall } from './write-waiting-call.ts';

/** Results that are known only after the writes are committed. */
export interface Applied {
  /** Cards that were not opened because the agent is no longer in the space. */
  readonly refusedCards: readonly OpenCard['card'][];
  /** The grants that cover calls, by the ids of the calls. */
  readonly grants: ReadonlyMap<string, UsedGrant>;
  /** True if a call was to start, and a cancel of the run had been accepted before. */
  readonly isCancelAccepted: boolean;
  readonly thread: 'released' | 'held';
  readonly waiting: Waiting;
}

/**
 * Applies writes in one transaction, in their order. Only the rows of the transcript and of calls go first, because
 * they can be sent together, and what a post has to lock and read goes before everything. After the commit, the returned
 * function returns the results.
 */
export async function applyWrites(
  context: ApplyContext,
  held: HeldThread,
  decided: readonly Write[],
): Promise<() => Applied> {
  const { tx } = held;
  const writes = withExpiry(context, tx, decided);
  // Before the first write: a member that leaves its group afterwards undoes the others.
  const early = sharedPost(writes);
  const prepared = early === undefined ? undefined : await preparePosting(context, tx, early);
  const shown = spacesShown(writes);
  if (shown.size > 0) assertShown(context, tx, { writes, shown, postedIn: prepared?.checkedSpaceId });
  const texts = writes.filter((write) => write.kind === 'request-text');
  if (texts.length > 0) writeTexts(tx, texts);
  appendEntries(context, held, writes);
  const { runId, agent, lease } = context.run;
  writeCalls(tx, { runId, agentId: agent.id, threadId: lease.threadId }, writes);
  const cancelled = writes.some(({ kind }) => kind === 'call-started') ? lookForCancel(tx, runId) : undefined;
  const refusedCards: OpenCard['card'][] = [];
  const grants = new Map<string, UsedGrant>();
  let released: (() => Waiting) | undefined;
  for (const write of mergeDeltas(writes)) {
    if (write.kind === 'release-thread') released = releaseAndLook(tx, held.lease);
    else if (write.kind === 'use-grant') {
      const used = await useGrant(tx, write.use, { runId, agentId: agent.id, threadId: lease.threadId });
      if (used !== undefined) grants.set(write.use.callId, used);
    } else if (isPost(write)) {
      const { post }: Posting = prepared ?? (await preparePosting(context, tx, write));
      await post();
    } else if (write.kind !== 'open-card') {
      // Most writes need no await, and a run of ten steps has about fifty of them.
      const applying = applyWrite(context, tx, write);
      if (applying !== undefined) await applying;
    } else if (!(await openCard(context, tx, write, shown))) refusedCards.push(write.card);
  }
  return () => ({
    refusedCards,
    grants,
    isCancelAccepted: cancelled?.() === true,
    thread: released === undefined ? 'held' : 'released',
    waiting: released?.() ?? 'nothing',
  });
}

/** Throws NoLongerShown, at once or with the commit, if a space no longer sees what the agent shows there. */
function assertShown(
  { run: { agent } }: ApplyContext,
  tx: Tx,
  { writes, shown, postedIn }: { writes: readonly Write[]; shown: ReadonlySet<string>; postedIn: string | undefined },
): void {
  const checked = spacesChecked(writes);
  for (const spaceId of shown)
    if (spaceId !== postedIn && !checked.has(spaceId))
      tx.send(requireAudience, { spaceId, entityId: agent.entityId }, (error) =>
        isRowMissing(error) ? new NoLongerShown(spaceId) : error,
      );
}

function appendEntries({ run: { runId } }: ApplyContext, held: HeldThread, writes: readonly Write[]): void {
  const entries = writes.filter((write) => write.kind === 'entry');
  const [first] = entries;
  if (first !== undefined) appendRows(held, { runId, seq: first.seq }, entries.map(toRow));
}

export function toRow({ seq, entry, payload }: EntryWrite): { seq: number; kind: string; payload: string } {
  return { seq, kind: entry, payload };
}

type PlainWrite = Exclude<
  Write,
  { kind: 'open-card' | 'release-thread' | 'use-grant' | 'post-response' | 'post-reply' }
>;

function applyWrite(context: ApplyContext, tx: Tx, write: PlainWrite): undefined | Promise<unknown> {
  const { run } = context;
  switch (write.kind) {
    case 'space-event':
      tx.emit({ stream: spaceStream(write.spaceId), type: write.type, payload: write.payload });
      return undefined;
    case 'live-event':
      tx.emit({ stream: runStream(run.runId), type: write.type, payload: write.payload });
      return undefined;
    case 'run-event': {
      const { type, json } = write;
      tx.emit({ stream: runStream(run.runId), type, json });
      return Object.hasOwn(run.answers, write.callId) ? tellAskingRun(context, tx, write) : undefined;
    }
    case 'staged-writes':
      return applyStaged(context, tx, write.callId);
    case 'files':
      if (write.act === 'undo') undoFiles(tx, run.lease.threadId);
      else forgetUndo(tx, run.lease.threadId);
      return undefined;
    case 'update-card': {
      const { callId, status, callStatus, output, isResponse } = write;
      return updateCard(tx, callId, { status, callStatus, outputJson: output, isResponse });
    }
    case 'end-wait':
      return cancelWaiting(tx, { callId: write.callId });
    case 'pending-call':
      return writeWaitingCall(context, tx, write);
    case 'close-run': {
      const { as: status, stop, usage, announcedSpaceId, mayWait, held } = write;
      return closeRun(tx, run, { status, stop, usage, announcedSpaceId, mayWait, held });
    }
    case 'count-usage':
      context.spend.count(tx, write.usage);
      return undefined;
    case 'call-ended':
      // A rewind, or a machine whose instance is gone, cancels calls that wait. An answer that comes later is late.
      return write.outcomeStatus === 'cancelled' ? cancelWaiting(tx, { callId: write.callId }) : undefined;
    // These were already applied.
    case 'entry':
    case 'request-text':
    case 'call-planned':
    case 'call-started':
      return undefined;
  }
}

/**
 * A call that was approved, or whose question was answered, ends in another run than the one that asked. Both streams
 * get the event.
 */
async function tellAskingRun(
  { run }: ApplyContext,
  tx: Tx,
  { callId, type, json }: Extract<Write, { kind: 'run-event' }>,
): Promise<void> {
  const call = await tx.db.selectFrom('calls').select('run_id').where('id', '=', callId).executeTakeFirst();
  if (call !== undefined && call.run_id !== run.runId) tx.emit({ stream: runStream(call.run_id), type, json });
}

/**
 * Shows the input only together with the card: a space that the agent was removed from must not see what it wrote. The call goes on, so if a
 * part of it was shown before, it is not reported as one that never ran.
 */
async function openCard(
  { run, nodeOf, grantedCard }: ApplyContext,
  tx: Tx,
  { card, unseenInput }: OpenCard,
  shown: ReadonlySet<string>,
): Promise<boolean> {
  const { runId, agent } = run;
  const { spaceId, callId } = card;
  const opened = await openCardIfAllowed(tx, {
    ...card,
    entityId: agent.entityId,
    runId,
    status: 'running',
    node: nodeOf?.(callId),
    call: grantedCard?.(callId),
  });
  if (opened === undefined) {
    if (shown.has(spaceId)) throw new NoLongerShown(spaceId);
    endUnseenCall(tx, { callId, spaceId });
  } else if (unseenInput !== '')
    tx.emit({
      stream: spaceStream(spaceId),
      type: 'tool-input-delta',
      payload: { callId, delta: unseenInput },
    });
  return opened !== undefined;
}

/**
 * The check is sent before the writes, which wait for answers anyway. Nothing is written after a cancel was accepted.
 */
async function applyStaged({ run, stagedWrites }: ApplyContext, tx: Tx, callId: string): Promise<void> {
  const apply = async (): Promise<void> => {
    try {
      for (const write of stagedWrites.get(callId)) await write(tx);
    } catch (error) {
      throw error instanceof ApiError ? new StagedWriteRefused(error) : error;
    }
  };
  await pipeline(assertNotCancelled(tx, run.runId), apply());
}
