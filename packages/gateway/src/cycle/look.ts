import { type Kysely, type Selectable, sql } from 'kysely';
import type { Situation } from '../agents/describe-agent.ts';
import { type Consciousness, loadConsciousness } from '../consciousness/load-consciousness.ts';
import { COLUMNS } from '../store/columns.ts';
import { statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';
import type { AgentRow, InboxEventRow, RunRow, Tables, ThreadRow } from '../store/tables.ts';
import { together } from '../store/together.ts';
import { loadSituation } from './load-situation.ts';

export type EventRow = Selectable<InboxEventRow>;
export type ThreadedAgent = Omit<AgentRow, 'last_error'> & Pick<ThreadRow, 'state'>;

/** Whether there is something to do for a thread. */
export interface Found {
  readonly row: ThreadedAgent | undefined;
  /** The run that somebody left. */
  readonly open: RunRow | undefined;
  readonly events: readonly EventRow[];
}

export async function look(tx: Tx, threadId: string): Promise<Found> {
  const [[row], [open], events] = await together(
    findAgent(tx.db, { threadId }),
    findOpenRun(tx.db, { threadId }),
    findFirst(tx.db, { agentId: threadId, now: tx.now() }),
  );
  return { row, open, events };
}

/** Before it is known how many the agent takes: more than most have. */
export const FIRST_LOOK = 50;

/** What it takes to begin a cycle. */
export interface Recalled {
  readonly mind: Consciousness;
  readonly situation: Situation;
  /** The number of the last cycle; 0 before the first. */
  readonly lastCycle: number;
}

export async function recall(tx: Tx, threadId: string): Promise<Recalled> {
  const [mind, situation, [last]] = await together(
    loadConsciousness(tx.db, threadId),
    loadSituation(tx.db, threadId),
    findLastCycle(tx.db, { threadId }),
  );
  return { mind, situation, lastCycle: last?.cycle_no ?? 0 };
}

/** As many as that, for an agent that takes more than the first look shows. */
export async function waitingEvents(tx: Tx, agentId: string, limit: number): Promise<EventRow[]> {
  return await waitingOf(tx.db, { agentId, now: tx.now() }).limit(limit).execute();
}

interface OfThread {
  readonly threadId: string;
}

const findAgent = statement((db, { threadId }: OfThread) =>
  db
    .selectFrom('agents')
    .innerJoin('threads', 'threads.id', 'agents.id')
    .select(['agents.id', 'entity_id', 'name', 'config', 'config_version', 'status', 'active_space_id', 'tag'])
    .select(['created_at', 'updated_at', 'threads.state'])
    .where('agents.id', '=', threadId),
);

const findOpenRun = statement((db, { threadId }: OfThread) =>
  db.selectFrom('runs').select(COLUMNS.runs).where('status', '=', 'running').where('thread_id', '=', threadId),
);

const waitingOf = (db: Kysely<Tables>, { agentId, now }: { agentId: string; now: number }) =>
  db
    .selectFrom('inbox_events')
    .select(COLUMNS.inbox_events)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending')
    // With the plus it is no reason to look through what waits for all agents: SQLite would take the index of what is due.
    .where(sql<number>`+available_at`, '<=', now)
    .orderBy('priority')
    .orderBy('id');

// A limit that is a value would make SQLite plan anew each time.
const findFirst = statement((db, given: { agentId: string; now: number }) =>
  waitingOf(db, given).limit(sql.lit(FIRST_LOOK)),
);

const findLastCycle = statement((db, { threadId }: OfThread) =>
  db
    .selectFrom('runs')
    .select('cycle_no')
    .where('thread_id', '=', threadId)
    .orderBy('cycle_no', 'desc')
    .limit(sql.lit(1)),
);
