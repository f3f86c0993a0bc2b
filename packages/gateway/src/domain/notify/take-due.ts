import { backoffMs } from '@lastcall/core/internal';
import type { NotificationRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

/** The last attempt is about 45 minutes after the first. */
const MOST_ATTEMPTS = 10;
const FIRST_RETRY_MS = 5_000;
/** A later time of the target's own, e.g. by Retry-After, is not waited for. */
const LATEST_RETRY_MS = 3_600_000;

/**
 * Takes notifications of a target that are due. The attempt is stored before it is made: no other gateway makes it, and if this gateway dies,
 * it is made again once it would have timed out. So a notification can be sent twice if a gateway dies between sending and storing that it
 * did, with the same id.
 */
export async function takeDue(
  tx: Tx,
  { target, limit, timeoutMs }: { readonly target: string; readonly limit: number; readonly timeoutMs: number },
): Promise<readonly NotificationRow[]> {
  const now = tx.now();
  const rows = await tx.db
    .selectFrom('notifications')
    .selectAll()
    .where('target', '=', target)
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
  const taken: NotificationRow[] = [];
  for (const row of rows) {
    const attempts = row.attempts + 1;
    const isOver = attempts > MOST_ATTEMPTS;
    const next_at = isOver ? null : now + timeoutMs + backoffMs(attempts, { firstMs: FIRST_RETRY_MS });
    const status = isOver ? ('failed' as const) : row.status;
    await tx.db
      .updateTable('notifications')
      .set(isOver ? { next_at, status } : { next_at, attempts })
      .where('id', '=', row.id)
      .execute();
    if (!isOver) taken.push({ ...row, attempts, next_at });
  }
  return taken;
}

/** How an attempt ended. */
export type AttemptEnd =
  | { readonly kind: 'sent' }
  | { readonly kind: 'obsolete' }
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number | undefined };

/** Stores the end of an attempt, unless another attempt has begun since. Returns whether it is the end of the notification. */
export async function endAttempt(tx: Tx, { id, attempts }: NotificationRow, end: AttemptEnd): Promise<boolean> {
  const now = tx.now();
  const isOver = end.kind !== 'failed' || attempts >= MOST_ATTEMPTS;
  const nextAt = isOver ? null : now + retryMs(attempts, end);
  await tx.db
    .updateTable('notifications')
    .set({
      status: end.kind === 'failed' && !isOver ? 'pending' : end.kind,
      next_at: nextAt,
      error: end.kind === 'failed' ? end.error : null,
      ...(end.kind === 'sent' ? { sent_at: now } : {}),
    })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('status', '=', 'pending')
    .execute();
  return isOver;
}

/** Gives back an attempt that a stop broke off: another gateway, or the next start, makes it at once. */
export async function returnAttempt(tx: Tx, { id, attempts }: NotificationRow): Promise<void> {
  await tx.db
    .updateTable('notifications')
    .set({ attempts: attempts - 1, next_at: tx.now() })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('status', '=', 'pending')
    .execute();
}

function retryMs(attempts: number, end: AttemptEnd): number {
  const asked = end.kind === 'failed' ? (end.retryAfterMs ?? 0) : 0;
  return Math.max(Math.min(asked, LATEST_RETRY_MS), backoffMs(attempts, { firstMs: FIRST_RETRY_MS }));
}
