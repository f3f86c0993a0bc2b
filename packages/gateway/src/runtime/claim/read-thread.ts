import { sql } from 'kysely';
import { type EventRow, FIRST_PAGE, selectWaiting } from '../../domain/inbox/waiting-events.ts';
import { TOOLS_VERSION } from '../../domain/tools/tools-version.ts';
import { loadTranscriptRows, type TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import type { SessionState } from '../../domain/transcript/restore-session.ts';
import { batchReads } from '../../ports/store/batch-reads.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { AgentRow, Json, RunRow, ThreadRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { LockedThread } from '../lease/lease.ts';
import { loadStoredSituation, type StoredSituation } from './load-situation.ts';

export type ThreadedAgent = Omit<AgentRow, 'last_error' | 'created_at' | 'updated_at'> &
  Pick<ThreadRow, 'kind' | 'lease_owner'> & {
    /** How often the registry of tools was changed; null if it never was. */
    readonly tools_version: string | null;
    /** The spend limits of the project. */
    readonly project_spend: Json | null;
    /** 1: the thread is a fork. */
    readonly is_fork: number;
  };

/** The rows that show whether a thread has work. */
export interface ThreadRows {
  readonly row: ThreadedAgent | undefined;
  /** A run that another worker left open. */
  readonly open: RunRow | undefined;
  readonly events: readonly EventRow[];
  /** The newest run, if there is one. */
  readonly last: Pick<RunRow, 'number' | 'turn_id' | 'answer'> | undefined;
}

export async function readThread({ tx, threadId }: LockedThread): Promise<ThreadRows> {
  const { agents, runs, events } = await readThreadRows(tx.db, { threadId, now: tx.now() });
  const [last] = runs;
  return { row: agents[0], open: last?.status === 'running' ? last : undefined, events, last };
}

/** What a run needs to start. */
export interface LoadedThread {
  readonly rows: readonly TranscriptRow[];
  /** The snapshot of the session or the machine: as it is stored, or as it is cached with the rows. */
  readonly state: { readonly stored: Json | null } | { readonly known: SessionState | undefined };
  readonly stored: StoredSituation;
}

/** `known` is what is cached of the transcript. A snapshot is only written with a compaction, after which nothing is cached. */
export async function loadThread(
  { tx, threadId }: LockedThread,
  known: KnownTranscript | undefined,
): Promise<LoadedThread> {
  if (known !== undefined)
    return { rows: known.rows, state: { known: known.state }, stored: await loadStoredSituation(tx.db, threadId) };
  const [rows, stored, [thread]] = await pipeline(
    loadTranscriptRows(tx.db, threadId),
    loadStoredSituation(tx.db, threadId),
    readState(tx.db, { threadId }),
  );
  return { rows, stored, state: { stored: thread?.state ?? null } };
}

/** What a worker has cached of a thread. */
export interface KnownTranscript {
  readonly rows: readonly TranscriptRow[];
  readonly state: SessionState | undefined;
}

const readState = statement(
  (db, { threadId }: Params<{ threadId: string }>) =>
    db.selectFrom('threads').select('state').where('id', '=', threadId),
  { types: { threadId: 'text' } },
);

interface ThreadParams {
  readonly threadId: string;
  readonly now: number;
}

const readThreadRows = batchReads<ThreadParams>({ types: { threadId: 'text', now: 'bigint' } })({
  // Reads the last run. An open run is always the last one, because it is closed before another one starts.
  runs: (db, { threadId }) =>
    db
      .selectFrom('runs')
      .select(COLUMNS.runs)
      .where('thread_id', '=', threadId)
      .orderBy('number', 'desc')
      .limit(sql.lit(1)),
  // The limit is a literal: with a parameter, SQLite would plan the query each time.
  events: (db, { threadId, now }) => selectWaiting(db, { threadId, now }).limit(sql.lit(FIRST_PAGE)),
  // Read after the events: if a tool was changed before an event arrived, the event's run must see the change.
  agents: (db, { threadId }) =>
    db
      .selectFrom('agents')
      .innerJoin('threads', 'threads.agent_id', 'agents.id')
      .select(['agents.id', 'entity_id', 'name', 'config', 'config_version', 'status', 'active_space_id', 'tag'])
      .select('agents.project_id')
      .select(['threads.kind', 'threads.lease_owner', 'threads.is_fork'])
      .select((eb) =>
        eb.selectFrom('settings').select('value').where('key', '=', sql.lit(TOOLS_VERSION)).as('tools_version'),
      )
      .select((eb) =>
        eb.selectFrom('projects').select('spend').whereRef('projects.id', '=', 'agents.project_id').as('project_spend'),
      )
      .where('threads.id', '=', threadId),
});
