import { setImmediate as nextTask } from 'node:timers/promises';
import { DAY_MS } from '../../config/retention.ts';
import type { Services } from '../../ports/services.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { firstIdAt } from '../audit/first-id-at.ts';
import { IS_PENDING } from '../calls/is-waiting.ts';
import { eraseEventPayload } from '../erasure/erase-event.ts';
import { forgetSamples, isCase, isReadByCase } from '../evaluations/kept-runs.ts';
import { runStream } from '../streams/stream-names.ts';
import { COMPACTION } from '../transcript/transcript-row.ts';

/** Runs that one sweep looks at. */
const PAGE = 200;
/** How long a sweep rests that has looked at all old runs: some are kept, and would be looked at each second. */
const REST_MS = 3_600_000;

interface Place {
  after: string;
  restUntil: number;
}

const places = new WeakMap<Store, Place>();

/**
 * Deletes runs that are older than `retention.runs`, oldest first, each in its own transaction, with their calls and their part of the
 * transcript. A run is kept while its agent still has it in its transcript, which ends with the next compaction, while a call of it
 * waits, if it is the newest of its thread, and if it is a case of an evaluation or was read by one. The events that it took keep their
 * ids, so that none is delivered twice.
 */
export async function sweepRuns(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now }: { now?: number } = {},
): Promise<number> {
  if (limits.runDays === Number.POSITIVE_INFINITY) return 0;
  const at = now ?? (await store.transaction(async (tx) => tx.now()));
  const place = placeOf(store);
  if (at < place.restUntil) return 0;
  const old = await store.db
    .selectFrom('runs')
    .select(['id', 'thread_id', 'number'])
    .where('id', '>', place.after)
    .where('id', '<', firstIdAt(at - limits.runDays * DAY_MS))
    .where('status', '!=', 'running')
    .orderBy('id')
    .limit(PAGE)
    .execute();
  let deleted = 0;
  for (const run of old) {
    if (await store.transaction((tx) => deleteRun(tx, run))) deleted += 1;
    await nextTask();
  }
  const last = old.at(-1);
  places.set(
    store,
    last === undefined || old.length < PAGE ? { after: '', restUntil: at + REST_MS } : { after: last.id, restUntil: 0 },
  );
  return deleted;
}

function placeOf(store: Store): Place {
  return places.get(store) ?? { after: '', restUntil: 0 };
}

interface OldRun {
  readonly id: string;
  readonly thread_id: string;
  readonly number: number;
}

async function deleteRun(tx: Tx, { id, thread_id: threadId, number }: OldRun): Promise<boolean> {
  const { db } = tx;
  // A worker that is claiming the thread reads its newest run and its transcript.
  await db.selectFrom('threads').select('id').where('id', '=', threadId).forUpdate().execute();
  if (await isNeeded(tx, { id, threadId, number })) return false;
  const events = await db.selectFrom('inbox_events').select(['id', 'payload']).where('run_id', '=', id).execute();
  for (const event of events)
    await db
      .updateTable('inbox_events')
      .set({ payload: eraseEventPayload(event.payload) })
      .where('id', '=', event.id)
      .execute();
  await db.deleteFrom('stream_events').where('stream', '=', runStream(id)).execute();
  await db.deleteFrom('streams').where('id', '=', runStream(id)).execute();
  await db.deleteFrom('calls').where('run_id', '=', id).execute();
  for (const table of ['sub_agent_turns', 'nested_usage', 'turn_requests', 'transcript_entries'] as const)
    await db.deleteFrom(table).where('run_id', '=', id).execute();
  await forgetSamples(tx, id);
  await db.deleteFrom('runs').where('id', '=', id).execute();
  return true;
}

async function isNeeded(
  { db }: Tx,
  { id, threadId, number }: { readonly id: string; readonly threadId: string; readonly number: number },
): Promise<boolean> {
  const newer = db.selectFrom('runs').select('id').where('thread_id', '=', threadId).where('number', '>', number);
  if ((await newer.limit(1).executeTakeFirst()) === undefined) return true;
  const waits = db.selectFrom('calls').select('id').where('run_id', '=', id).where(IS_PENDING);
  if ((await waits.limit(1).executeTakeFirst()) !== undefined) return true;
  if (await isCase(db, id)) return true;
  const entries = db.selectFrom('transcript_entries').where('run_id', '=', id);
  const last = await entries.select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  if (last === undefined) return false;
  const compaction = await db
    .selectFrom('transcript_entries')
    .select('seq')
    .where('thread_id', '=', threadId)
    .where('kind', '=', COMPACTION)
    .where('seq', '>', last.seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return compaction === undefined || (await isReadByCase(db, { threadId, after: last.seq, before: compaction.seq }));
}
