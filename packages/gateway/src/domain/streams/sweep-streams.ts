import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';

/**
 * Deletes stream events that are older than the window, oldest first, in small batches, so that nobody waits long for a
 * row. Returns how many were deleted.
 */
export async function sweepStreams(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now, signal }: { now?: number; signal?: AbortSignal } = {},
): Promise<number> {
  let swept = 0;
  while (signal?.aborted !== true) {
    const old = await store.transaction(async (tx) => {
      const before = (now ?? (await tx.now())) - limits.streamWindowMs;
      return await oldestChannels(tx, before);
    });
    for (const { channel, upTo } of old) swept += await store.transaction((tx) => sweepChannel(tx, { channel, upTo }));
    if (old.length === 0) return swept;
  }
  return swept;
}

const BATCH = 500;

/** The channels of the oldest events, and up to which number each can be deleted. */
async function oldestChannels(tx: Tx, before: number): Promise<{ channel: string; upTo: number }[]> {
  const rows = await tx.db
    .with('oldest', (db) =>
      db
        .selectFrom('stream_events')
        .select(['channel', 'seq'])
        .where('created_at', '<', before)
        .orderBy('created_at')
        .limit(BATCH),
    )
    .selectFrom('oldest')
    .select((eb) => ['channel', eb.fn.max('seq').as('upTo')])
    .groupBy('channel')
    .execute();
  return rows.map(({ channel, upTo }) => ({ channel, upTo: Number(upTo) }));
}

/**
 * Deletes from the front, so that a channel has no holes, and a reader sees from its first event whether it missed any.
 */
async function sweepChannel(tx: Tx, { channel, upTo }: { channel: string; upTo: number }): Promise<number> {
  await tx.db
    .updateTable('channels')
    .set({ swept_seq: upTo })
    .where('id', '=', channel)
    .where('swept_seq', '<', upTo)
    .execute();
  const { numDeletedRows } = await tx.db
    .deleteFrom('stream_events')
    .where('channel', '=', channel)
    .where('seq', '<=', upTo)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
