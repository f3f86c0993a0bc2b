import { createHash, randomBytes } from 'node:crypto';
import type { WaitColumns } from '../../ports/store/schema/tables.ts';
import { ApiError } from '../api-error.ts';

type ClaimColumns = { readonly [K in 'claim_hash' | 'claimed_by' | 'claimed_until']: WaitColumns[K] };

/** The token is given out once. The database has only its hash. */
export function newClaimToken(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/**
 * Throws if another worker has claimed the job. A claim that has lapsed still counts until another worker claims the job: the
 * work is done, and does not have to be done a second time.
 */
export function assertClaim(row: ClaimColumns, token: string | undefined, now: number): void {
  if (token === undefined) assertUnclaimed(row, now);
  else if (row.claim_hash !== hashToken(token))
    throw new ApiError('claim_lost', 'This claim is not valid: it lapsed, and another worker claimed the call.');
}

export function assertUnclaimed({ claimed_by: worker, claimed_until: claimedUntil }: ClaimColumns, now: number): void {
  if (claimedUntil === null || claimedUntil <= now) return;
  throw new ApiError('job_claimed', 'Another worker has claimed the call. It is offered again if the claim lapses.', {
    details: { worker, claimedUntil },
  });
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
