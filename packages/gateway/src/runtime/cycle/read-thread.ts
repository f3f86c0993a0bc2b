import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import {
  type Consciousness,
  loadTranscriptRows,
  type TranscriptRow,
  toConsciousness,
} from '../../domain/consciousness/load-consciousness.ts';
import { IS_WAITING } from '../../domain/inbox/waiting.ts';
import { batchReads } from '../../ports/store/batch-reads.ts';
import { COLUMNS } from '../../ports/store/columns.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { dialectOf, type Param } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { AgentRow, InboxEventRow, RunRow, Tables, ThreadRow } from '../../ports/store/tables.ts';
import type { HeldThread } from '../lease.ts';
import { loadSituation } from './load-situation.ts';

export type EventRow = Selectable<InboxEventRow>;
export type ThreadedAgent = Omit<AgentRow, 'last_error' | 'created_at' | 'updated_at'> & Pick<ThreadRow, 'state'>;

/** Whether there is something to do for a thread. */
export interface ThreadRows {
  readonly row: ThreadedAgent | undefined;
  /** The run that somebody left. */
  readonly open: RunRow | undefined;
  readonly events: readonly EventRow[];
  /** The number of the last cycle; 0 before the first. */
  readonly lastCycle: number;
}

export async function readThread({ tx, lease: { threadId } }: HeldThread): Promise<ThreadRows> {
  const { agents, open, events, last } = await readThreadRows(tx.db, { threadId, now: tx.now() });
  return { row: agents[0], open: open[0], events, lastCycle: last[0]?.cycle_no ?? 0 };
}

/** Before it is known how many the agent takes: more than most have. */
export const FIRST_LOOK = 50;

/** What it takes to begin a cycle. */
export interface ThreadContext {
  readonly consciousness: Consciousness;
  readonly rows: readonly TranscriptRow[];
  readonly situation: Situation;
}

/** `known`: the rows of the consciousness, where they need not be asked for. */
export async function loadContext(
  { tx, lease: { threadId } }: HeldThread,
  known: readonly TranscriptRow[] | undefined,
): Promise<ThreadContext> {
  const remembering = known === undefined ? loadTranscriptRows(tx.db, threadId) : Promise.resolve(known);
  const [rows, situation] = await pipeline(remembering, loadSituation(tx.db, threadId));
  return { consciousness: toConsciousness(rows), rows, situation };
}

/** As many as that, for an agent that takes more than the first look shows. */
export async function waitingEvents(tx: Tx, agentId: string, limit: number): Promise<EventRow[]> {
  return await waitingOf(tx.db, { agentId, now: tx.now() }).limit(limit).execute();
}

/** Built once as a statement, and each time for an agent that takes many. */
interface WaitingOf {
  readonly agentId: string | Param<string>;
  readonly now: number | Param<number>;
}

const waitingOf = (db: Kysely<Tables>, { agentId, now }: WaitingOf) =>
  db
    .selectFrom('inbox_events')
    .select(COLUMNS.inbox_events)
    .where('agent_id', '=', agentId)
    .where(IS_WAITING)
    // With the plus it is no reason to look through what waits for all agents: SQLite would take the index of what is due.
    .where(sql<number>`+available_at`, '<=', orLater(db, now))
    .orderBy('priority')
    .orderBy('id');

/** On its way a statement may wait for whoever has the thread: what came meanwhile is taken too. */
function orLater(db: Kysely<Tables>, now: WaitingOf['now']): RawBuilder<number> {
  if (dialectOf(db) === 'sqlite') return sql<number>`${now}`;
  return sql<number>`greatest(${now}::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint)`;
}

interface OfThread {
  readonly threadId: string;
  readonly now: number;
}

const readThreadRows = batchReads<OfThread>()({
  agents: (db, { threadId }) =>
    db
      .selectFrom('agents')
      .innerJoin('threads', 'threads.id', 'agents.id')
      .select(['agents.id', 'entity_id', 'name', 'config', 'config_version', 'status', 'active_space_id', 'tag'])
      .select('threads.state')
      .where('agents.id', '=', threadId),
  open: (db, { threadId }) =>
    db.selectFrom('runs').select(COLUMNS.runs).where('status', '=', 'running').where('thread_id', '=', threadId),
  last: (db, { threadId }) =>
    db
      .selectFrom('runs')
      .select('cycle_no')
      .where('thread_id', '=', threadId)
      .orderBy('cycle_no', 'desc')
      .limit(sql.lit(1)),
  // A limit that is a value would make SQLite plan anew each time.
  events: (db, { threadId, now }) => waitingOf(db, { agentId: threadId, now }).limit(sql.lit(FIRST_LOOK)),
});
