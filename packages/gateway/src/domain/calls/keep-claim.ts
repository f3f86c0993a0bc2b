import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { tooLarge } from '../entities/invalid.ts';
import { assertClaim } from './claim.ts';
import { assertMayClaim, assertWaiting, lockJob } from './claim-job.ts';
import { tellJobClaimed, tellJobProgress } from './job-events.ts';
import type { Answerer } from './may-answer.ts';
import { toWaitingCall } from './waiting-call.ts';

export interface Heartbeat {
  readonly callId: string;
  readonly claimToken: string;
  /** Any JSON. Readers of the streams see it. */
  readonly progress?: unknown;
  readonly by: Answerer;
}

/** Progress goes to every reader of the streams, and is stored with them. */
const PROGRESS_BYTES = 16_000;

/** Extends a claim. A claim that has lapsed can be extended too, if no other worker has claimed the job meanwhile. */
export async function keepClaim(
  tx: Tx,
  { callId, claimToken, progress, by }: Heartbeat,
): Promise<{ readonly callId: string; readonly claimedUntil: number }> {
  const row = await lockJob(tx, callId);
  const call = toWaitingCall(row);
  await assertMayClaim(tx, call, by);
  const now = tx.now();
  assertWaiting(call, now);
  assertClaim(row, claimToken, now);
  if (progress !== undefined) assertProgressSize(progress);
  const claimedUntil = now + (row.claim_ms ?? 0);
  await tx.db
    .updateTable('calls')
    .set({ claimed_until: claimedUntil, announce_at: null })
    .where('id', '=', callId)
    .execute();
  // The job was offered again, so the other workers must be notified that it is taken.
  if (row.claimed_until === null)
    tellJobClaimed(tx, { agentId: call.agentId, callId, worker: row.claimed_by ?? '', claimedUntil });
  if (progress !== undefined) await tellJobProgress(tx, call, progress);
  return { callId, claimedUntil };
}

function assertProgressSize(progress: unknown): void {
  const bytes = Buffer.byteLength(toJson(progress));
  if (bytes > PROGRESS_BYTES) throw tooLarge('The progress', { limit: PROGRESS_BYTES, came: bytes, unit: 'bytes' });
}
