import type { Entry } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/tables.ts';
import { COMPACTION, fromEntryPayload } from '../consciousness/transcript-row.ts';

/** A turn of a conversation that has begun, as it is stored. */
export interface StoredTurn {
  /** Its runs, in order. The first one's id is that of the turn. */
  readonly runIds: readonly string[];
  readonly entries: readonly Entry[];
  /** True while its last run is running. */
  readonly isOpen: boolean;
}

/** The newest turns of a context, oldest first. `before`: a run; only turns that began before its own. */
export async function listTurns(
  db: Kysely<Tables>,
  contextId: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<readonly StoredTurn[]> {
  let beginnings = db
    .selectFrom('transcript_entries')
    .innerJoin('runs', 'runs.id', 'transcript_entries.run_id')
    .select(['transcript_entries.seq', 'runs.cycle_no'])
    .where('transcript_entries.thread_id', '=', contextId)
    .where('transcript_entries.kind', '=', 'turn');
  if (before !== undefined)
    beginnings = beginnings.where('runs.cycle_no', '<', (eb) =>
      eb.selectFrom('runs as given').select('given.cycle_no').where('given.id', '=', before),
    );
  const found = await beginnings.orderBy('transcript_entries.seq', 'desc').limit(limit).execute();
  const starts = found.map(({ cycle_no }) => cycle_no).reverse();
  return await Promise.all(starts.map((start, index) => readTurn(db, contextId, { start, end: starts[index + 1] })));
}

/** The runs from one number up to the one that begins the next turn. */
interface Span {
  readonly start: number;
  readonly end: number | undefined;
}

async function readTurn(db: Kysely<Tables>, contextId: string, { start, end }: Span): Promise<StoredTurn> {
  const begins = db
    .selectFrom('transcript_entries')
    .innerJoin('runs', 'runs.id', 'transcript_entries.run_id')
    .select(({ fn }) => fn.min('runs.cycle_no').as('next'))
    .where('transcript_entries.thread_id', '=', contextId)
    .where('transcript_entries.kind', '=', 'turn')
    .where('runs.cycle_no', '>', start);
  const next = end ?? (await begins.executeTakeFirst())?.next ?? undefined;
  let own = db
    .selectFrom('runs')
    .select(['id', 'status'])
    .where('thread_id', '=', contextId)
    // Runs that are not saved belong to no turn.
    .where('answer', 'is', null)
    .where('cycle_no', '>=', start)
    .orderBy('cycle_no');
  if (next != null) own = own.where('cycle_no', '<', Number(next));
  const runs = await own.execute();
  const runIds = runs.map(({ id }) => id);
  return { runIds, entries: await entriesOfRuns(db, runIds), isOpen: runs.at(-1)?.status === 'running' };
}

export async function entriesOfRuns(db: Kysely<Tables>, runIds: readonly string[]): Promise<readonly Entry[]> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', 'in', runIds)
    .where('kind', '!=', COMPACTION)
    .orderBy('seq')
    .execute();
  return rows.map(({ payload }) => fromEntryPayload(payload).entry);
}
