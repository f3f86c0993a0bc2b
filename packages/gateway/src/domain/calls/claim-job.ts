import type { Tx } from '../../ports/store/store.ts';
import { ApiError, isNotFound, notFound } from '../api-error.ts';
import { alreadyAnswered } from './answer-call.ts';
import { assertUnclaimed, newClaimToken } from './claim.ts';
import { isOver } from './expire-due.ts';
import { tellJobClaimed } from './job-events.ts';
import { type Answerer, assertMayAnswer } from './may-answer.ts';
import { type LockedWait, lockWaiting } from './settle-waiting.ts';
import { toWaitingCall, type WaitingCall } from './waiting-call.ts';

export interface JobClaim {
  readonly callId: string;
  /** The worker's own name, shown to operators. */
  readonly worker: string;
  /** How long the claim lasts after each heartbeat. */
  readonly leaseMs?: number | undefined;
  readonly by: Answerer;
}

/** Everything that a worker needs to do the job. */
export interface ClaimedJob extends Pick<WaitingCall, 'callId' | 'runId' | 'agentId' | 'toolName' | 'input'> {
  readonly claimToken: string;
  readonly claimedUntil: number;
  /** 1 for the first worker. A later one may find traces of the work of an earlier one. */
  readonly attempt: number;
  readonly resultSchema?: WaitingCall['resultSchema'];
  readonly expiresAt?: number;
}

const DEFAULT_LEASE_MS = 30_000;

/** Gives the job to one worker. Others get a 409 until it is answered or the claim lapses. */
export async function claimJob(tx: Tx, claim: JobClaim): Promise<ClaimedJob> {
  const { callId, worker, leaseMs = DEFAULT_LEASE_MS, by } = claim;
  const row = await lockJob(tx, callId);
  const call = toWaitingCall(row);
  await assertMayClaim(tx, call, by);
  const now = tx.now();
  assertWaiting(call, now);
  assertUnclaimed(row, now);
  const { token, hash } = newClaimToken();
  const [claimedUntil, attempt] = [now + leaseMs, row.claims + 1];
  await tx.db
    .updateTable('calls')
    .set({
      claims: attempt,
      claim_hash: hash,
      claimed_by: worker,
      claim_ms: leaseMs,
      claimed_until: claimedUntil,
      announce_at: null,
    })
    .where('id', '=', callId)
    .execute();
  tellJobClaimed(tx, { agentId: call.agentId, callId, worker, claimedUntil });
  const { runId, agentId, toolName, input, resultSchema, expiresAt } = call;
  return {
    ...{ claimToken: token, claimedUntil, attempt, callId, runId, agentId, toolName, input },
    ...(resultSchema === undefined ? {} : { resultSchema }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** Throws "not found" for calls that people answer: they are not jobs. */
export async function lockJob(tx: Tx, callId: string): Promise<LockedWait> {
  const row = await lockWaiting(tx, callId);
  if (row === undefined || row.offered_at === null || row.wait_kind !== 'result') throw notFound('job', callId);
  return row;
}

/** For entities that cannot see the call, there is no job: the same words as for an id of nothing. */
export async function assertMayClaim(tx: Tx, call: WaitingCall, by: Answerer): Promise<void> {
  await assertMayAnswer(tx, call, by).catch((error: unknown) => {
    throw isNotFound(error) ? notFound('job', call.callId) : error;
  });
}

/** Throws the same error that an answer would get, so that the worker can stop. */
export function assertWaiting(call: WaitingCall, now: number): void {
  if (call.status === 'resolved') throw alreadyAnswered(call);
  if (call.status === 'cancelled') throw new ApiError('cancelled', 'The call was cancelled.');
  if (call.status === 'expired' || isOver(call, now)) throw new ApiError('expired', 'The call has expired.');
}
