import type { Services } from '../../ports/services.ts';
import { type Params, searchStatement } from '../../ports/store/statement.ts';
import type { Store } from '../../ports/store/store.ts';
import { doEach } from '../do-each.ts';
import { offerJob } from './job-events.ts';
import { lockWaiting } from './settle-waiting.ts';
import { toWaitingCall } from './waiting-call.ts';

const PAGE_SIZE = 200;

/** Offers jobs again whose worker stopped sending heartbeats, each in a separate transaction. Returns how many. */
export async function offerLapsed(
  services: Pick<Services, 'store' | 'logger'>,
  { now }: { now?: number } = {},
): Promise<number> {
  const { store } = services;
  const at = now ?? (await store.transaction(async (tx) => tx.now()));
  const lapsed = await findLapsed(store.db, { at });
  return await doEach(services, lapsed, {
    failed: ({ id }) => `Job ${id} could not be offered again`,
    work: ({ id }) => offerOne(store, id, at),
  });
}

const findLapsed = searchStatement((db, { at }: Params<{ at: number }>) =>
  db.selectFrom('calls').select('id').where('claimed_until', '<=', at).orderBy('claimed_until').limit(PAGE_SIZE),
);

async function offerOne(store: Store, callId: string, at: number): Promise<boolean> {
  return await store.transaction(async (tx) => {
    const row = await lockWaiting(tx, callId, { skipLocked: true });
    // Meanwhile a worker has sent a heartbeat or claimed the job, or is just doing so.
    if (row === undefined || row.claimed_until === null || row.claimed_until > at) return false;
    const isWaiting = row.wait_status === 'pending';
    const announcement = isWaiting
      ? { offered_at: at, offers: row.offers + 1, announce_at: at, announce_attempts: 0 }
      : {};
    await tx.db
      .updateTable('calls')
      .set({ claimed_until: null, ...announcement })
      .where('id', '=', callId)
      .execute();
    if (isWaiting) offerJob(tx, { ...toWaitingCall(row), claims: row.claims });
    return isWaiting;
  });
}
