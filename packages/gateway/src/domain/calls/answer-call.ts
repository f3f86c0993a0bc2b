import type { Answer } from '@lastcall/core';
import type { Services } from '../../ports/services.ts';
import { lockRows } from '../../ports/store/lock-rows.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { isForkThread } from '../forks/fork.ts';
import { createGrant, grantOfCall } from '../grants/create-grant.ts';
import type { GrantRequest } from '../grants/grant.ts';
import { reserveRun } from '../inbox/reserved-run.ts';
import type { CardCall } from '../spaces/card-call.ts';
import { updateCard } from '../spaces/tool-card.ts';
import { runStream } from '../streams/stream-names.ts';
import { denialReason, fitsKind, hashAnswer, toOutcome } from './answer.ts';
import { nameOfAnswerer } from './answerer-name.ts';
import { assertSize, fitAnswer } from './check-answer.ts';
import { assertClaim } from './claim.ts';
import { expire, isOver } from './expire-due.ts';
import { tellJobEnded } from './job-events.ts';
import { type Answerer, answererId, assertMayAnswer } from './may-answer.ts';
import { callEndEvent, endOfWait, type LockedWait, lockWaiting, pushCallEnd } from './settle-waiting.ts';
import { type LateAnswer, toWaitingCall, type WaitingCall } from './waiting-call.ts';

export interface AnsweredCall {
  readonly runId: string;
  readonly callId: string;
  readonly answer: Answer;
  readonly by: Answerer;
  /** The token of the worker that claimed the call, if it is a job. */
  readonly claimToken?: string | undefined;
  /** The run of a conversation that will continue with the answer, if it already has an id. */
  readonly answeringRunId?: string | undefined;
  /** The number of the question that is answered, if the call asks. */
  readonly round?: number | undefined;
  /** Approves later calls too. Only with an approval. */
  readonly grant?: GrantRequest | undefined;
}

/**
 * What happened to a valid answer. `runId` is the run that continues with it, which may not have begun. `grantId`: the grant that was given
 * with it.
 */
export type AnswerEnd =
  | { readonly status: 'resolved'; readonly runId: string; readonly grantId?: string | undefined }
  /** The same answer was given before. */
  | { readonly status: 'duplicate'; readonly runId: string; readonly grantId?: string | undefined }
  /**
   * The answer came after the end of the call, or after another answer, and was stored for operators. Throw the error after the
   * commit.
   */
  | { readonly status: 'late'; readonly error: ApiError };

/** Answers a waiting call in a separate transaction. Throws an ApiError for every answer that does not count. */
export async function answer(
  { store }: Pick<Services, 'store'>,
  answered: AnsweredCall,
): Promise<{
  readonly callId: string;
  readonly duplicate: boolean;
  readonly runId: string;
  readonly grantId?: string;
}> {
  const result = await store.transaction((tx) => answerCall(tx, answered));
  if (result.status === 'late') throw result.error;
  const { runId, grantId } = result;
  const given = grantId === undefined ? {} : { grantId };
  return { callId: answered.callId, duplicate: result.status === 'duplicate', runId, ...given };
}

/**
 * Answers a waiting call: its end, its card, the event and the wake, all in the caller's transaction. Throws an
 * ApiError if nothing of the answer is stored. A late answer is stored, so its error is returned as a value.
 */
export async function answerCall(
  tx: Tx,
  { runId, callId, answer: given, by, claimToken, answeringRunId, round, grant }: AnsweredCall,
): Promise<AnswerEnd> {
  const answer = 'deny' in given ? { deny: denialReason(given.deny) } : given;
  if (answeringRunId === undefined) await lockThreadOf(tx, callId);
  const row = await lockWaiting(tx, callId);
  if (row === undefined || !(await isOfRun(tx, row, runId))) throw notFound('waiting call', callId);
  const call = toWaitingCall(row);
  await assertMayAnswer(tx, call, by);
  assertSize(answer, tx.limits.resultBytes);
  const now = tx.now();
  if (isOver(call, now)) {
    await expire(tx, row, now);
    return await keep(tx, { ...call, status: 'expired' }, { answer, by, now });
  }
  if (call.status === 'expired' || call.status === 'cancelled') return await keep(tx, call, { answer, by, now });
  const isOpen = !wasAnswered(row, answer);
  const isOfEarlierRound = isOpen && round !== undefined && round !== row.rounds;
  // A call that asks again keeps the answer to the question before. Its client may not have heard that it was stored.
  const isOfLastRound = isOfEarlierRound && round === row.rounds - 1;
  if ((!isOpen || isOfLastRound) && row.answer_hash === hashAnswer(answer, grant)) {
    const answeredRow = isOfLastRound ? { ...row, rounds: round } : row;
    const runId = await runOfAnswer(tx, answeredRow, answer);
    const grantId = grant === undefined ? undefined : await grantOfCall(tx, callId);
    return {
      status: 'duplicate',
      runId: runId ?? answeringRunId ?? (await reserveAgain(tx, answeredRow, answer)),
      grantId,
    };
  }
  if (!isOpen) return await keep(tx, call, { answer, by, now });
  if (isOfEarlierRound) throw await lost(tx, call);
  assertClaim(row, claimToken, now);
  const isFork = call.kind === 'approval' && (await isForkThread(tx.db, row.thread_id));
  const completed = await fitAnswer(answer, call, { isFork, hasGrant: grant !== undefined });
  const grantId = grant === undefined ? undefined : await give(tx, row, { completed, by, grant });
  const resolution = { answer, completed, by, now, answeringRunId, grant, grantId };
  return { status: 'resolved', runId: await resolve(tx, row, resolution), grantId };
}

/** Gives the grant that was asked for together with the approval. */
async function give(
  tx: Tx,
  row: LockedWait,
  { completed, by, grant }: { readonly completed: Answer; readonly by: Answerer; readonly grant: GrantRequest },
): Promise<string> {
  if (!('approve' in completed))
    throw new ApiError('wrong_answer', 'A grant can only be given with { approve: true }.', {
      details: { path: 'grant' },
    });
  const input = completed.input === undefined ? fromJson(row.input) : completed.input;
  return await createGrant(tx, { row, by, request: grant, input });
}

/** Locked first, as by the workers of the thread: the run that takes the answer must not begin before the answer is stored. */
async function lockThreadOf(tx: Tx, callId: string): Promise<void> {
  if (!isId(callId)) return;
  const call = await tx.db.selectFrom('calls').select('thread_id').where('id', '=', callId).executeTakeFirst();
  if (call !== undefined) await lockRows(tx, { threads: [call.thread_id] });
}

/** The run that took the answer, or will take it. An answer to a question during a call is taken by the run of the call. */
async function runOfAnswer(tx: Tx, row: LockedWait, answer: Answer): Promise<string | undefined> {
  if (row.during_call !== null) return row.run_id;
  const event = tx.db
    .selectFrom('inbox_events')
    .select('run_id')
    .where('thread_id', '=', row.thread_id)
    .where('event_id', '=', eventOfAnswer(row, answer));
  return (await event.executeTakeFirst())?.run_id ?? undefined;
}

/** An operator put the event back, or the request whose run was to take it was cancelled. */
async function reserveAgain(tx: Tx, row: LockedWait, answer: Answer): Promise<string> {
  const runId = await reserveRun(tx, row.thread_id);
  await tx.db
    .updateTable('inbox_events')
    .set({ run_id: runId })
    .where('thread_id', '=', row.thread_id)
    .where('event_id', '=', eventOfAnswer(row, answer))
    .where('status', '=', 'pending')
    .execute();
  return runId;
}

function eventOfAnswer(row: LockedWait, answer: Answer): string {
  return callEndEvent({ ...row, wait_kind: fitsKind(answer, 'approval') ? 'approval' : row.wait_kind });
}

/** A call that one run planned may have begun to wait in a later run of its thread: both ids are right. */
async function isOfRun(
  tx: Tx,
  { run_id: plannedIn, thread_id: threadId }: LockedWait,
  runId: string,
): Promise<boolean> {
  if (plannedIn === runId) return true;
  if (!isId(runId)) return false;
  const run = tx.db.selectFrom('runs').select('id').where('id', '=', runId).where('thread_id', '=', threadId);
  return (await run.executeTakeFirst()) !== undefined;
}

/** Also true for a second decision, when the call already waits for its result. */
function wasAnswered({ wait_status, wait_kind, answer: before }: LockedWait, answer: Answer): boolean {
  return wait_status === 'resolved' || (wait_kind !== 'approval' && before !== null && fitsKind(answer, 'approval'));
}

/** The error shows a late answerer which answer counted, because they may think that theirs did. */
export function alreadyAnswered({ answer, resolvedBy, resolvedAt }: WaitingCall, resolvedByName?: string): ApiError {
  return new ApiError('already_answered', 'The call already has a different answer. That answer counts.', {
    details: { answer, resolvedBy, ...(resolvedByName === undefined ? {} : { resolvedByName }), resolvedAt },
  });
}

async function lost(tx: Tx, call: WaitingCall): Promise<ApiError> {
  return alreadyAnswered(call, await nameOfAnswerer(tx.db, call.resolvedBy));
}

const KEPT_ONLY = 'The answer was stored for operators. The agent will not see it.';

/** Stores a late answer for operators: who gave it, and what it was. */
async function keep(
  tx: Tx,
  call: WaitingCall,
  { answer, by, now }: { answer: Answer; by: Answerer; now: number },
): Promise<AnswerEnd> {
  await storeLateAnswer(tx, call, { answer, by: answererId(by), at: now });
  const hasEnded = call.status === 'expired' || call.status === 'cancelled';
  return { status: 'late', error: hasEnded ? tooLate(call, now) : await lost(tx, call) };
}

function tooLate({ status, resolvedAt }: WaitingCall, now: number): ApiError {
  const details = { resolvedAt: resolvedAt ?? now };
  return status === 'expired'
    ? new ApiError('expired', `The call expired before this answer arrived. ${KEPT_ONLY}`, { details })
    : new ApiError('cancelled', `The call was cancelled before this answer arrived. ${KEPT_ONLY}`, { details });
}

interface Resolution extends Pick<AnsweredCall, 'answer' | 'by' | 'answeringRunId' | 'grant'> {
  readonly grantId: string | undefined;
  readonly completed: Answer;
  readonly now: number;
}

/** Returns the run that continues. `answer` is the answer as it was sent; `completed` also has the defaults of the schema. */
async function resolve(
  tx: Tx,
  row: LockedWait,
  { answer, completed, by, now, answeringRunId, grant, grantId }: Resolution,
): Promise<string> {
  const call = toWaitingCall(row);
  await tx.db
    .updateTable('calls')
    .set({
      ...endOfWait(row, 'resolved', { now, callStatus: call.kind === 'input' ? null : statusOfAnswer(answer) }),
      // The tool needs the defaults too. Other answers get them in the event.
      answer: toJson(call.kind === 'input' ? completed : answer),
      answer_hash: hashAnswer(answer, grant),
      answered_by: answererId(by),
    })
    .where('id', '=', call.callId)
    .execute();
  const id = answererId(by);
  const name = await nameOfAnswerer(tx.db, id);
  const told = { kind: call.kind, decision: decisionOf(answer), by: { id, name }, at: now };
  const card = runsOn(call) ? ({ status: 'running' } as const) : toCard(completed);
  const given = grantId === undefined ? {} : { givenGrantId: grantId };
  await updateCard(tx, call.callId, { ...card, call: { ...told, ...given } });
  tellJobEnded(tx, call, 'resolved');
  const { kind: _kind, ...answered } = told;
  const payload = { callId: call.duringCall ?? call.callId, toolName: call.toolName, ...answered };
  tx.emit({ stream: runStream(call.runId), type: 'tool-call.answered', payload });
  const outcome = call.kind === 'input' ? { status: 'answered' as const, round: row.rounds } : toOutcome(completed);
  const resolvedBy = by.entityId === undefined ? undefined : { entityId: by.entityId, name };
  // The call that asked during its run is still running.
  if (call.duringCall !== undefined) return call.runId;
  const runId = answeringRunId ?? (await reserveRun(tx, row.thread_id));
  await pushCallEnd(tx, row, outcome, { resolvedBy, answeringRunId: runId });
  return runId;
}

/** True if the call continues with the answer. A question during a call has a separate card, which ends here. */
function runsOn({ kind, duringCall }: WaitingCall): boolean {
  return kind === 'input' && duringCall === undefined;
}

/** How the call stands once it is answered: an approved call runs. */
function statusOfAnswer(answer: Answer): LockedWait['outcome_status'] {
  if ('result' in answer) return 'ok';
  if ('error' in answer) return 'error';
  return 'deny' in answer ? 'denied' : null;
}

type CardUpdate = Parameters<typeof updateCard>[2];

/** A denied call never ran, so its card is cancelled, not failed. */
function toCard(answer: Answer): CardUpdate {
  if ('result' in answer) return { status: 'complete', output: answer.result };
  if ('error' in answer) return { status: 'error', output: { error: answer.error } };
  if ('deny' in answer) return { status: 'cancelled', output: { denied: answer.deny } };
  return answer.input === undefined ? { status: 'running' } : { status: 'running', input: answer.input };
}

export function decisionOf(answer: Answer): NonNullable<CardCall['decision']> {
  if ('result' in answer) return 'result';
  if ('error' in answer) return 'error';
  return 'deny' in answer ? 'deny' : 'approve';
}

/** Enough to see that people still answer. A client that keeps repeating its answer must not fill the disk. */
const MAX_KEPT = 5;

/** Stores an answer that came after the end or after another answer, for operators. The newest ones are kept. */
async function storeLateAnswer(tx: Tx, { callId, lateAnswers = [] }: WaitingCall, late: LateAnswer): Promise<void> {
  const said = toJson(late.answer);
  const others = lateAnswers.filter(({ answer, by }) => by !== late.by || toJson(answer) !== said);
  await tx.db
    .updateTable('calls')
    .set({ late_answers: toJson([...others, late].slice(-MAX_KEPT)) })
    .where('id', '=', callId)
    .execute();
}
