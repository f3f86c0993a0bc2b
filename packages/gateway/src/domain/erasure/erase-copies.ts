import { sql } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { endErasedCalls } from './end-erased-calls.ts';
import { erasedKey, eraseNote, isErasedKey } from './erase-notes.ts';
import { eraseCard } from './erase-sources.ts';
import {
  type Collected,
  type ErasureJob,
  holdThread,
  inPiece,
  keepThread,
  letOthers,
  releaseThread,
} from './erasure-job.ts';
import { ERASED_JSON } from './mark.ts';
import { ofOtherProjects, ownerColumn } from './of-other-projects.ts';
import { TEXT_COLUMNS } from './text-columns.ts';

/** The primary keys of the tables in which copies are searched. */
const KEYS: { readonly [T in keyof Tables]?: readonly string[] } = {
  agent_failures: ['space_id', 'entity_id'],
  agents: ['id'],
  calls: ['id'],
  evaluation_cases: ['id'],
  evaluation_samples: ['report_id', 'number'],
  file_undo: ['thread_id', 'path'],
  files: ['thread_id', 'path'],
  forks: ['thread_id'],
  goals: ['agent_id', 'key'],
  inbox_events: ['id'],
  memories: ['agent_id', 'key'],
  messages: ['id'],
  plans: ['agent_id', 'key'],
  request_texts: ['hash'],
  runs: ['id'],
  stream_events: ['stream', 'seq'],
  sub_agent_turns: ['run_id', 'call_id'],
  threads: ['id'],
  transcript_entries: ['thread_id', 'seq'],
};

export const SEARCHED_TABLES: readonly string[] = Object.keys(KEYS);

/** What else is read of a row, to know what to do with it. */
const OTHERS: { readonly [T in keyof Tables]?: readonly string[] } = {
  messages: ['entity_id', 'run_id', 'kind'],
  calls: ['wait_kind'],
};

type Row = Readonly<Record<string, string | number | null>>;

/**
 * Searches all other texts for copies, e.g. what an agent wrote in a later run, with the transcript in view. Messages of other people are
 * theirs, and stay as they are. So does everything of other projects: nothing moves between projects, and a text that is written in two of them
 * is no copy.
 */
export async function eraseCopies(job: ErasureJob, collected: Collected): Promise<void> {
  const people = await peopleOf(job);
  const tables = Object.keys(KEYS) as (keyof Tables)[];
  for (const table of tables) {
    await job.store.transaction((tx) => noteTable(tx, job, table));
    await eraseIn(job, { table, collected, people });
  }
}

async function noteTable(tx: Tx, { erasure }: ErasureJob, table: string): Promise<void> {
  await tx.db
    .updateTable('erasures')
    .set({ cursor: JSON.stringify(table) })
    .where('id', '=', erasure.id)
    .execute();
}

/** The ids of people and services, whose messages are not searched. */
async function peopleOf({ store, erasure }: ErasureJob): Promise<ReadonlySet<string>> {
  const people = store.db.selectFrom('entities').select('id').where('kind', '!=', 'agent');
  const rows = await people.where('project_id', '=', erasure.project_id).execute();
  return new Set(rows.map(({ id }) => id));
}

interface Search {
  readonly table: keyof Tables;
  readonly collected: Collected;
  readonly people: ReadonlySet<string>;
}

async function eraseIn(job: ErasureJob, search: Search): Promise<void> {
  const { table } = search;
  const keys = KEYS[table] ?? [];
  const key = sql.join(keys.map((one) => sql.ref(one)));
  const columns = Object.entries(TEXT_COLUMNS[table]).flatMap(([name, how]) =>
    how === 'json' || how === 'text' ? [name] : [],
  );
  const extra = [ownerColumn(table) ?? [], OTHERS[table] ?? []].flat();
  const selected = sql.join([...new Set([...keys, ...columns, ...extra])].map((one) => sql.ref(one)));
  const held: Held = { threadId: undefined };
  try {
    await eachPage();
  } finally {
    await release(job, held);
  }

  async function eachPage(): Promise<void> {
    for (let after: Row | undefined; ; ) {
      const startedAt = performance.now();
      const from = after;
      const condition =
        from === undefined ? sql`1 = 1` : sql`(${key}) > (${sql.join(keys.map((one) => sql`${from[one]}`))})`;
      const page = sql<Row>`select ${selected} from ${sql.table(table)} where ${condition} order by ${key} limit ${sql.lit(job.store.rowsAtOnce)}`;
      const { rows } = await page.execute(job.store.db);
      const found = await withoutOthers(
        job,
        table,
        rows.flatMap((row) => changeOf(row, columns, search)),
      );
      if (found.length > 0) await change(job, search, found, held);
      // The rest of the page belongs to other threads.
      if (held.threadId !== undefined && String(rows.at(-1)?.thread_id ?? '') !== held.threadId)
        await release(job, held);
      await letOthers(startedAt);
      after = rows.at(-1);
      if (after === undefined || rows.length < job.store.rowsAtOnce) return;
    }
  }
}

/** The project is looked up only for rows in which something was found, because these are few. */
async function withoutOthers(
  { store, erasure }: ErasureJob,
  table: keyof Tables,
  found: readonly Change[],
): Promise<readonly Change[]> {
  const column = ownerColumn(table);
  if (column === undefined || found.length === 0) return found;
  const ownerOf = ({ row }: Change): string => String(row[column]);
  const owners = found.map(ownerOf);
  const others = await ofOtherProjects(store.db, { table, project: erasure.project_id, owners });
  return found.filter((one) => !others.has(ownerOf(one)));
}

interface Change {
  readonly row: Row;
  /** The columns with other texts. */
  readonly texts: Readonly<Record<string, string>>;
  readonly isWhole: boolean;
}

function changeOf(row: Row, columns: readonly string[], { table, collected, people }: Search): readonly Change[] {
  const { copies, runIds } = collected;
  if (table === 'messages' && runIds.has(String(row.run_id)) && row.content !== ERASED_JSON)
    return [{ row, texts: {}, isWhole: true }];
  if (table === 'messages' && people.has(String(row.entity_id))) return [];
  const texts: Record<string, string> = {};
  for (const name of columns) {
    const text = row[name];
    if (typeof text !== 'string') continue;
    const redacted = TEXT_COLUMNS[table][name] === 'json' ? copies.redactJson(text) : copies.redact(text);
    if (redacted !== text) texts[name] = redacted;
  }
  const named = row.key ?? row.path;
  const isNamed = typeof named === 'string' && !isErasedKey(named) && copies.redact(named) !== named;
  return isNamed || Object.keys(texts).length > 0 ? [{ row, texts, isWhole: isNamed }] : [];
}

/** The thread that is held. Rows are read by thread, so each is held once, and its run is taken over once at most. */
interface Held {
  threadId: string | undefined;
}

async function change(job: ErasureJob, { table }: Search, found: readonly Change[], held: Held): Promise<void> {
  if (!HELD.has(table)) {
    await inPiece(job, (tx) => write(tx, job, table, found));
    return;
  }
  for (const threadId of new Set(found.map(threadOf))) {
    if (held.threadId !== threadId) {
      await release(job, held);
      if (!(await holdThread(job, threadId))) continue;
      held.threadId = threadId;
    }
    await inPiece(job, async (tx) => {
      await keepThread(tx, job, threadId);
      const own = found.filter((one) => threadOf(one) === threadId);
      return await write(tx, job, table, own);
    });
  }
}

const threadOf = ({ row }: Change): string => String(row.thread_id ?? row.id);

async function release(job: ErasureJob, held: Held): Promise<void> {
  const { threadId } = held;
  held.threadId = undefined;
  if (threadId !== undefined) await releaseThread(job, threadId);
}

/** Only the holder of a thread writes these. A worker that has them in memory must read them again. */
const HELD: ReadonlySet<string> = new Set(['threads', 'transcript_entries', 'files', 'file_undo']);

async function write(tx: Tx, job: ErasureJob, table: keyof Tables, found: readonly Change[]): Promise<number> {
  for (const [index, { row, texts, isWhole }] of found.entries()) {
    if (isWhole) await writeWhole(tx, job, { table, row, count: Date.now() + index });
    else {
      const set = sql.join(Object.entries(texts).map(([name, text]) => sql`${sql.ref(name)} = ${text}`));
      const same = [...(KEYS[table] ?? []), ...Object.keys(texts)].map((name) => sql`${sql.ref(name)} = ${row[name]}`);
      // A row that was changed meanwhile is found again by the next pass.
      await sql`update ${sql.table(table)} set ${set} where ${sql.join(same, sql` and `)}`.execute(tx.db);
      if (table === 'calls' && isActedOn(row, texts)) await endErasedCalls(tx, { callId: String(row.id) });
    }
  }
  return found.length;
}

/** True if a tool or a worker could act on what is left. A call that asks displays what its sub-agent wants to do; all others display a label. */
function isActedOn({ wait_kind }: Row, { input, answer, display }: Change['texts']): boolean {
  return (input ?? answer ?? (wait_kind === 'input' ? display : undefined)) !== undefined;
}

async function writeWhole(
  tx: Tx,
  job: ErasureJob,
  { table, row, count }: { readonly table: keyof Tables; readonly row: Row; readonly count: number },
): Promise<void> {
  if (table === 'messages') {
    const id = String(row.id);
    if (row.kind === 'tool')
      await eraseCard(tx, { id, metadata: String(row.metadata), call: row.call as string | null });
    await tx.db.updateTable('messages').set({ content: ERASED_JSON, attachments: null }).where('id', '=', id).execute();
  } else if (table === 'files' || table === 'file_undo') {
    const { thread_id, path } = row;
    const file = tx.db.deleteFrom(table).where('thread_id', '=', String(thread_id));
    await file.where('path', '=', String(path)).execute();
  } else if (table === 'goals' || table === 'memories' || table === 'plans') {
    const note = { agentId: String(row.agent_id), key: String(row.key), newKey: erasedKey(job, count) };
    await eraseNote(tx, { table, ...note });
  }
}
