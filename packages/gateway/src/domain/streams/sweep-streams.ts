import { type Kysely, sql } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { runChannel } from './channels.ts';

/**
 * Deletes stream events that are older than the window, oldest first, in small batches, so that no transaction waits long for a
 * row. Returns how many were deleted.
 */
export async function sweepStreams(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now, signal }: { now?: number; signal?: AbortSignal } = {},
): Promise<number> {
  let swept = 0;
  while (signal?.aborted !== true) {
    const { before, channels } = await store.transaction(async (tx) => {
      const before = (now ?? tx.now()) - limits.streamWindowMs;
      return { before, channels: await oldestChannels(tx, before) };
    });
    for (const channel of channels) swept += await store.transaction((tx) => sweepChannel(tx, channel, before));
    if (channels.length === 0) return swept;
  }
  return swept;
}

const BATCH = 500;

async function oldestChannels(tx: Tx, before: number): Promise<readonly string[]> {
  const rows = await tx.db
    .selectFrom('channels')
    .select('id')
    .where('oldest_at', '<', before)
    .orderBy('oldest_at')
    .limit(BATCH)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Deletes from the front, so that a channel has no holes, and a reader sees from its first event whether it missed any. The first
 * update locks the channel, so that no event is written while the oldest remaining one is looked up.
 */
async function sweepChannel(tx: Tx, channel: string, before: number): Promise<number> {
  const upTo = await lastOld(tx, channel, before);
  const now = tx.now();
  await tx.db
    .updateTable('channels')
    .set((eb) => ({ swept_seq: eb.case().when('swept_seq', '<', upTo).then(upTo).else(eb.ref('swept_seq')).end() }))
    .where('id', '=', channel)
    .execute();
  const events = tx.db.deleteFrom('stream_events').where('channel', '=', channel).where('seq', '<=', upTo);
  const { numDeletedRows } = await events.executeTakeFirstOrThrow();
  await tx.db
    .updateTable('channels')
    .set((eb) => ({
      oldest_at: eb
        .selectFrom('stream_events')
        // The clock may have been wrong: events after such an event are still checked in time.
        .select((own) => own.case().when('created_at', '>', now).then(now).else(own.ref('created_at')).end().as('at'))
        .where('channel', '=', channel)
        .orderBy('seq')
        .limit(1),
    }))
    .where('id', '=', channel)
    .execute();
  return Number(numDeletedRows);
}

/** The number of the last old event among the first ones, or 0. */
async function lastOld(tx: Tx, channel: string, before: number): Promise<number> {
  const { last } = await tx.db
    .selectFrom((eb) =>
      eb
        .selectFrom('stream_events')
        .select(['seq', 'created_at'])
        .where('channel', '=', channel)
        .orderBy('seq')
        .limit(BATCH)
        .as('first'),
    )
    .select((eb) => eb.fn.coalesce(eb.fn.max('seq'), sql<number>`0`).as('last'))
    .where('created_at', '<', before)
    .executeTakeFirstOrThrow();
  return Number(last);
}

/** Whether events of these runs are deleted, for those among them that ever had events. */
export async function sweptRuns(db: Kysely<Tables>, runIds: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  const runOf = new Map(runIds.map((runId) => [runChannel(runId), runId]));
  const channels = db
    .selectFrom('channels')
    .select(['id', 'swept_seq'])
    .where('id', 'in', [...runOf.keys()]);
  return new Map((await channels.execute()).map(({ id, swept_seq }) => [runOf.get(id) ?? id, swept_seq > 0]));
}
