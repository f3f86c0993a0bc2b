import { type Kysely, sql } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { runStream } from './stream-names.ts';

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
    const { before, streams } = await store.transaction(async (tx) => {
      const before = (now ?? tx.now()) - limits.streamWindowMs;
      return { before, streams: await oldestStreams(tx, before) };
    });
    for (const stream of streams) swept += await store.transaction((tx) => sweepStream(tx, stream, before));
    if (streams.length === 0) return swept;
  }
  return swept;
}

const BATCH = 500;

async function oldestStreams(tx: Tx, before: number): Promise<readonly string[]> {
  const rows = await tx.db
    .selectFrom('streams')
    .select('id')
    .where('oldest_at', '<', before)
    .orderBy('oldest_at')
    .limit(BATCH)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Deletes from the front, so that a stream has no holes, and a reader sees from its first event whether it missed any. The first
 * update locks the stream, so that no event is written while the oldest remaining one is looked up.
 */
async function sweepStream(tx: Tx, stream: string, before: number): Promise<number> {
  const upTo = await lastOld(tx, stream, before);
  const now = tx.now();
  await tx.db
    .updateTable('streams')
    .set((eb) => ({ swept_seq: eb.case().when('swept_seq', '<', upTo).then(upTo).else(eb.ref('swept_seq')).end() }))
    .where('id', '=', stream)
    .execute();
  const events = tx.db.deleteFrom('stream_events').where('stream', '=', stream).where('seq', '<=', upTo);
  const { numDeletedRows } = await events.executeTakeFirstOrThrow();
  await tx.db
    .updateTable('streams')
    .set((eb) => ({
      oldest_at: eb
        .selectFrom('stream_events')
        // The clock may have been wrong: events after such an event are still checked in time.
        .select((own) => own.case().when('created_at', '>', now).then(now).else(own.ref('created_at')).end().as('at'))
        .where('stream', '=', stream)
        .orderBy('seq')
        .limit(1),
    }))
    .where('id', '=', stream)
    .execute();
  return Number(numDeletedRows);
}

/** The number of the last old event among the first ones, or 0. */
async function lastOld(tx: Tx, stream: string, before: number): Promise<number> {
  const { last } = await tx.db
    .selectFrom((eb) =>
      eb
        .selectFrom('stream_events')
        .select(['seq', 'created_at'])
        .where('stream', '=', stream)
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
  const runOf = new Map(runIds.map((runId) => [runStream(runId), runId]));
  const streams = db
    .selectFrom('streams')
    .select(['id', 'swept_seq'])
    .where('id', 'in', [...runOf.keys()]);
  return new Map((await streams.execute()).map(({ id, swept_seq }) => [runOf.get(id) ?? id, swept_seq > 0]));
}
