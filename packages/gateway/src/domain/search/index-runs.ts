import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IndexedText } from '../../ports/store/search/index-entry.ts';
import { addToIndex } from '../../ports/store/search/search-index.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type FoundText, textOfEntry, textOfStop, textsOfCall } from './entry-texts.ts';
import { kindLabel, labelOf } from './labels.ts';
import type { RunPlace } from './search-state.ts';
import { wordsOf } from './words.ts';

/** Runs that one transaction adds. */
export const RUNS_AT_ONCE = 50;

export interface EndedRun {
  readonly id: string;
  readonly thread_id: string;
  readonly agent_id: string;
  readonly project_id: string;
  readonly stop: string | null;
  readonly ended_at: number;
}

/** Runs that ended after this place, in the order of their ends. */
export async function endedRunsAfter(
  tx: Tx,
  { endedAt, id }: RunPlace,
  condition: RawBuilder<SqlBool> = sql<SqlBool>`1 = 1`,
): Promise<readonly EndedRun[]> {
  return await endedRuns(
    tx,
    sql<SqlBool>`r.ended_at is not null and (r.ended_at, r.id) > (${endedAt}, ${id}) and ${condition}`,
  );
}

async function endedRuns({ db }: Tx, condition: RawBuilder<SqlBool>): Promise<readonly EndedRun[]> {
  const { rows } = await sql<EndedRun>`
    select r.id, r.thread_id, t.agent_id, a.project_id, r.stop, r.ended_at
    from runs r join threads t on t.id = r.thread_id join agents a on a.id = t.agent_id
    where ${condition} order by r.ended_at, r.id limit ${sql.lit(RUNS_AT_ONCE)}`.execute(db);
  return rows;
}

/** Adds the runs of these ids again that have ended. The others are added when they end. */
export async function indexRunsAgain(tx: Tx, ids: readonly string[]): Promise<void> {
  await indexRuns(tx, await endedRuns(tx, sql<SqlBool>`r.ended_at is not null and r.id in (${sql.join(ids)})`));
}

/** Adds the texts, calls and errors of these runs. Entries that the index already has of them are replaced. */
export async function indexRuns(tx: Tx, runs: readonly EndedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const ids = runs.map(({ id }) => id);
  await tx.db.deleteFrom('search_entries').where('source_id', 'in', ids).execute();
  const byId = new Map(runs.map((run) => [run.id, run]));
  const stops = runs.flatMap((run) => toTexts(run, textOfStop(run.stop, run.ended_at)));
  await addToIndex(tx, [...stops, ...(await spokenTexts(tx, byId)), ...(await callTexts(tx, byId))]);
}

type Runs = ReadonlyMap<string, EndedRun>;

/** Agents speak in spaces with messages. In a conversation, the transcript has what everyone wrote. */
async function spokenTexts({ db }: Tx, runs: Runs): Promise<readonly IndexedText[]> {
  const ids = [...runs.values()].flatMap(({ id, thread_id, agent_id }) => (thread_id === agent_id ? [] : [id]));
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['run_id', 'seq', 'payload', 'created_at'])
    .where('run_id', 'in', ids)
    .where('kind', 'in', ['message', 'reply'])
    .where('origin_run_id', 'is', null)
    .execute();
  return rows.flatMap(({ run_id, seq, payload, created_at }) =>
    toTexts(runs.get(run_id), textOfEntry(payload, created_at), { seq }),
  );
}

async function callTexts({ db }: Tx, runs: Runs): Promise<readonly IndexedText[]> {
  const rows = await db
    .selectFrom('calls')
    .select(['id', 'run_id', 'tool_name', 'input', 'outcome', 'created_at', 'settled_at'])
    .where('run_id', 'in', [...runs.keys()])
    .where('during_call', 'is', null)
    .execute();
  return rows.flatMap((call) =>
    textsOfCall(call).flatMap((text) => toTexts(runs.get(call.run_id), text, { call_id: call.id })),
  );
}

/** Adds calls again whose texts were changed, e.g. because they were answered after their run. */
export async function indexCallsAgain(tx: Tx, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<EndedRun & { call_id: string } & Parameters<typeof textsOfCall>[0]>`
    select r.id, r.thread_id, t.agent_id, a.project_id, r.stop, r.ended_at,
      c.id as call_id, c.tool_name, c.input, c.outcome, c.created_at, c.settled_at
    from calls c join runs r on r.id = c.run_id join threads t on t.id = r.thread_id join agents a on a.id = t.agent_id
    where r.ended_at is not null and c.during_call is null and c.id in (${sql.join([...ids])})`.execute(tx.db);
  const known = rows.map(({ call_id }) => call_id);
  if (known.length === 0) return;
  const runIds = rows.map(({ id }) => id);
  await tx.db.deleteFrom('search_entries').where('source_id', 'in', runIds).where('call_id', 'in', known).execute();
  await addToIndex(
    tx,
    rows.flatMap((row) => textsOfCall(row).flatMap((text) => toTexts(row, text, { call_id: row.call_id }))),
  );
}

function toTexts(
  run: EndedRun | undefined,
  found: FoundText | undefined,
  { call_id = null, seq = null }: { readonly call_id?: string | null; readonly seq?: number | null } = {},
): readonly IndexedText[] {
  if (run === undefined || found === undefined) return [];
  const { kind, text, at } = found;
  const labels = [labelOf('project', run.project_id), kindLabel(kind), labelOf('agent', run.agent_id)];
  return [{ kind, source_id: run.id, call_id, seq, at, words: wordsOf(text).map(({ word }) => word), labels }];
}
