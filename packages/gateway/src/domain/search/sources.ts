import type { Kysely } from 'kysely';
import type { CallRow, MessageRow, RunRow, Tables } from '../../ports/store/schema/tables.ts';
import type { IndexEntry } from '../../ports/store/search/index-entry.ts';
import { type Trial, trialOf } from '../forks/trial.ts';
import { EVERYTHING, inView, throughAgents, type View } from '../projects/view.ts';
import { type SearchedCall, textOfEntry, textOfMessage, textOfStop, textsOfCall } from './entry-texts.ts';

/** Where a text is. */
export interface Source {
  /** Of a message in a space. */
  readonly messageId?: string;
  readonly spaceId?: string;
  readonly seq?: number;
  /** Who wrote it. */
  readonly entityId?: string;
  readonly runId?: string;
  readonly agentId?: string;
  readonly callId?: string;
  readonly toolName?: string;
  /** Set for a run of a fork or a draft. */
  readonly trial?: Trial;
}

export interface SourceText {
  readonly source: Source;
  readonly text: string;
}

interface Reader {
  readonly entityId?: string | undefined;
  readonly view?: View | undefined;
}

type Sources = Map<number, SourceText>;

/** The texts of entries by the ids of the entries. Those that the reader cannot see are missing. */
export async function readSources(
  db: Kysely<Tables>,
  entries: readonly IndexEntry[],
  reader: Reader,
): Promise<ReadonlyMap<number, SourceText>> {
  const sources: Sources = new Map();
  const ofRuns = entries.filter(({ kind, call_id, seq }) => kind !== 'message' || call_id !== null || seq !== null);
  const ofMessages = entries.filter((entry) => !ofRuns.includes(entry));
  if (ofMessages.length > 0) await addMessages(db, { entries: ofMessages, reader, sources });
  // A person who is limited to spaces sees no runs.
  if (ofRuns.length > 0 && reader.entityId === undefined) await addRuns(db, { entries: ofRuns, reader, sources });
  return sources;
}

interface Reading {
  readonly entries: readonly IndexEntry[];
  readonly reader: Reader;
  readonly sources: Sources;
}

async function addMessages(db: Kysely<Tables>, { entries, reader, sources }: Reading): Promise<void> {
  const { entityId, view = EVERYTHING } = reader;
  let query = db
    .selectFrom('messages')
    .innerJoin('spaces', 'spaces.id', 'messages.space_id')
    .select(['messages.id', 'space_id', 'seq', 'entity_id', 'run_id', 'content', 'messages.created_at'])
    .where('messages.id', 'in', idsOf(entries))
    .where(inView(view, 'spaces'));
  if (entityId !== undefined)
    query = query.where('space_id', 'in', (eb) =>
      eb.selectFrom('memberships').select('space_id').where('entity_id', '=', entityId).where('left_at', 'is', null),
    );
  const byId = new Map((await query.execute()).map((row) => [row.id, row]));
  for (const { id, source_id } of entries) {
    const row = byId.get(source_id);
    const found = row === undefined ? undefined : textOfMessage(row.content, row.created_at);
    if (row !== undefined && found !== undefined) sources.set(id, { source: sourceOf(row, reader), text: found.text });
  }
}

type FoundMessage = Pick<MessageRow, 'id' | 'space_id' | 'seq' | 'entity_id' | 'run_id'>;

function sourceOf({ id, space_id, seq, entity_id, run_id }: FoundMessage, { entityId }: Reader): Source {
  const run = run_id === null || entityId !== undefined ? {} : { runId: run_id };
  return { messageId: id, spaceId: space_id, seq, entityId: entity_id, ...run };
}

async function addRuns(
  db: Kysely<Tables>,
  { entries, reader: { view = EVERYTHING }, sources }: Reading,
): Promise<void> {
  const runs = await db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .leftJoin('forks', 'forks.thread_id', 'runs.thread_id')
    .select(['runs.id', 'runs.thread_id', 'threads.agent_id', 'stop', 'ended_at'])
    .select(['forks.at_step', 'forks.origin_run_id'])
    .where('runs.id', 'in', idsOf(entries))
    .where(throughAgents(view, 'threads.agent_id'))
    .execute();
  const byId = new Map(runs.map((run) => [run.id, run]));
  const visible = entries.filter(({ source_id }) => byId.has(source_id));
  const calls = await readCalls(db, visible);
  const said = await readSaid(db, visible);
  for (const entry of visible) {
    const run = byId.get(entry.source_id);
    if (run === undefined) continue;
    const call = entry.call_id === null ? undefined : calls.get(entry.call_id);
    const text = textOf(entry, { run, call, payload: said.get(placeOf(entry)) });
    const ofCall = call === undefined ? {} : { callId: call.id, toolName: call.tool_name };
    if (text !== undefined)
      sources.set(entry.id, { source: { runId: run.id, agentId: run.agent_id, ...ofCall, ...trialOf(run) }, text });
  }
}

interface Read {
  readonly run: Pick<RunRow, 'stop' | 'ended_at'>;
  readonly call: FoundCall | undefined;
  /** The row of the transcript. */
  readonly payload: string | undefined;
}

function textOf({ kind, call_id, seq }: IndexEntry, { run, call, payload }: Read): string | undefined {
  if (call_id !== null)
    return call === undefined ? undefined : textsOfCall(call).find((one) => one.kind === kind)?.text;
  if (seq !== null) return payload === undefined ? undefined : textOfEntry(payload, 0)?.text;
  return textOfStop(run.stop, run.ended_at ?? 0)?.text;
}

type FoundCall = SearchedCall & Pick<CallRow, 'id'>;

async function readCalls(db: Kysely<Tables>, entries: readonly IndexEntry[]): Promise<ReadonlyMap<string, FoundCall>> {
  const ids = entries.flatMap(({ call_id }) => (call_id === null ? [] : [call_id]));
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('calls')
    .select(['id', 'tool_name', 'input', 'outcome', 'created_at', 'settled_at'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Rows of transcripts by their places. */
async function readSaid(db: Kysely<Tables>, entries: readonly IndexEntry[]): Promise<ReadonlyMap<string, string>> {
  const said = entries.flatMap(({ source_id, seq }) => (seq === null ? [] : [{ source_id, seq }]));
  if (said.length === 0) return new Map();
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['run_id', 'seq', 'payload'])
    .where('run_id', 'in', [...new Set(said.map(({ source_id }) => source_id))])
    .where('seq', 'in', [...new Set(said.map(({ seq }) => seq))])
    .execute();
  return new Map(rows.map(({ run_id, seq, payload }) => [placeOf({ source_id: run_id, seq }), payload]));
}

function placeOf({ source_id, seq }: Pick<IndexEntry, 'source_id' | 'seq'>): string {
  return `${source_id} ${seq}`;
}

function idsOf(entries: readonly IndexEntry[]): string[] {
  return [...new Set(entries.map(({ source_id }) => source_id))];
}
