import type { Entry } from '@lastcall/core';
import { type Kysely, sql } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Json, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { invalid } from '../entities/invalid.ts';
import type { Run } from '../runs/run.ts';
import { toRecord } from '../transcript/load-transcript.ts';
import { isOfMachine } from '../transcript/machine-rows.ts';
import { restoreSession, toSessionState } from '../transcript/restore-session.ts';
import { COMPACTION, type EntryRecord, toEntryPayload } from '../transcript/transcript-row.ts';
import { toOutcome } from './changed-outcome.ts';
import type { ForkChanges } from './fork.ts';

/** Where the copy goes. */
interface Copy {
  readonly contextId: string;
  readonly runId: string;
  /** The first row that is not copied. */
  readonly before: number;
}

/**
 * Copies what the model of the original read before a request: the rows since the last compaction, in one statement. They keep their
 * numbers. Those of the original run belong to the fork's run, and older ones to no run, so that no run lists the rows of another thread.
 * Each names the run that wrote it.
 */
export async function copyTranscript(
  tx: Tx,
  { id, threadId }: Pick<Run, 'id' | 'threadId'>,
  { contextId, runId, before }: Copy,
): Promise<void> {
  await sql`
    insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at, origin_run_id)
    select ${contextId}, seq, case when run_id = ${id} then ${runId} else ${contextId} end, kind, payload, created_at,
      coalesce(origin_run_id, run_id)
    from transcript_entries
    where thread_id = ${threadId} and seq < ${before} and seq >= coalesce((
      select max(seq) from transcript_entries where thread_id = ${threadId} and seq < ${before} and kind = ${COMPACTION}), 0)
  `.execute(tx.db);
}

/** The files of the thread as they are now. What a fork writes changes only the copy. */
export async function copyFiles(tx: Tx, { threadId }: Pick<Run, 'threadId'>, contextId: string): Promise<void> {
  await sql`
    insert into files (thread_id, path, content, size, changed_by, changed_at)
    select ${contextId}, path, content, size, changed_by, changed_at from files where thread_id = ${threadId}
  `.execute(tx.db);
}

/**
 * The snapshot of the session for a copy of the rows before this one. A compaction since then has replaced the snapshot that these rows
 * follow: then it is made again, of all rows up to the compaction that they begin with.
 */
export async function sessionBefore(db: Kysely<Tables>, threadId: string, before: number): Promise<Json | null> {
  const thread = await db.selectFrom('threads').select('state').where('id', '=', threadId).executeTakeFirst();
  const stored = thread?.state ?? null;
  const state = toSessionState(stored);
  if (state === undefined || state.seq < before) return stored;
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['seq', 'kind', 'payload'])
    .where('thread_id', '=', threadId)
    .where('seq', '<', before)
    .orderBy('seq')
    .execute();
  const seq = rows.findLast(({ kind }) => kind === COMPACTION)?.seq;
  if (seq === undefined) return null;
  const past = rows.filter((row) => row.seq < seq && row.kind !== COMPACTION).map(toRecord);
  // The sessions of a machine's instances are in the machine.
  const records = past.filter(({ entry }) => !isOfMachine(entry));
  return toJson({ seq, session: restoreSession({ state: undefined, records }).toJSON() });
}

/** Writes other outcomes into the copied rows of their calls. Those of later calls are used when the fork makes the same calls. */
export async function changeOutcomes(
  tx: Tx,
  run: Run,
  { contextId, outcomes = {} }: { contextId: string; outcomes: ForkChanges['outcomes'] },
): Promise<void> {
  const wanted = new Set(Object.keys(outcomes));
  if (wanted.size === 0) return;
  const known = await callsOfRun(tx.db, run, wanted);
  const unknown = [...wanted].find((callId) => !known.has(callId));
  if (unknown !== undefined)
    throw invalid(
      `changes.outcomes.${unknown}`,
      'names no call of this run. Take the ids from its transcript: GET /api/runs/{id}/transcript.',
    );
  const rows = await tx.db
    .selectFrom('transcript_entries')
    .select(['seq', 'payload'])
    .where('thread_id', '=', contextId)
    .where('kind', 'in', ['settled', 'pending'])
    .execute();
  for (const { seq, payload } of rows) {
    const record = fromJson<EntryRecord>(payload);
    const { entry } = record;
    if (entry.kind !== 'settled' && entry.kind !== 'pending') continue;
    const { settlement } = entry;
    const changed = outcomes[settlement.callId];
    if (changed === undefined) continue;
    const outcome = toOutcome(changed, settlement.toolName);
    const ended: Entry = { ...entry, kind: 'settled', settlement: { ...settlement, outcome } };
    await tx.db
      .updateTable('transcript_entries')
      .set({ kind: 'settled', payload: toEntryPayload({ ...record, entry: ended }) })
      .where('thread_id', '=', contextId)
      .where('seq', '=', seq)
      .execute();
  }
}

async function callsOfRun(
  db: Kysely<Tables>,
  { id, threadId }: Run,
  wanted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('thread_id', '=', threadId)
    .where('run_id', '=', id)
    .where('kind', 'in', ['settled', 'pending'])
    .execute();
  const ids = rows.flatMap(({ payload }) => {
    const { entry } = fromJson<EntryRecord>(payload);
    return entry.kind === 'settled' || entry.kind === 'pending' ? [entry.settlement.callId] : [];
  });
  return new Set(ids.filter((callId) => wanted.has(callId)));
}
