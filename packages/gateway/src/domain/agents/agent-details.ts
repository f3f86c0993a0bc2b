import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Agent } from './agent.ts';

/** An agent with its current activity and the number of waiting events. */
export interface AgentDetails extends Agent {
  /** `file`: the configuration file created it, and resets its configuration at each start while it names the agent. */
  readonly source: 'file' | 'api';
  readonly running?: { readonly runId: string; readonly since: number };
  readonly inbox: InboxCounts;
  /** When its next plan is due. */
  readonly nextPlanAt?: number;
}

interface InboxCounts {
  /** Events that wait or are being worked on. */
  readonly pending: number;
  readonly dead: number;
  readonly withheld: number;
}

/** Adds the details that operators look for first. It takes four statements for any number of agents. */
export async function describeAgents(db: Kysely<Tables>, agents: readonly Agent[]): Promise<AgentDetails[]> {
  const ids = agents.map(({ id }) => id);
  if (ids.length === 0) return [];
  const [fromFile, running, inboxes, plans] = await Promise.all([
    seededAgents(db),
    runningRuns(db, ids),
    countInboxes(db, ids),
    nextPlans(db, ids),
  ]);
  return agents.map((agent) => {
    const [run, nextPlanAt] = [running.get(agent.id), plans.get(agent.id)];
    return {
      ...agent,
      source: fromFile.has(agent.id) ? 'file' : 'api',
      ...(run === undefined ? {} : { running: run }),
      inbox: inboxes.get(agent.id) ?? { pending: 0, dead: 0, withheld: 0 },
      ...(nextPlanAt === undefined ? {} : { nextPlanAt }),
    };
  });
}

export async function describeAgent(db: Kysely<Tables>, agent: Agent): Promise<AgentDetails> {
  const [details] = await describeAgents(db, [agent]);
  return details as AgentDetails;
}

/** The setting that stores the file's agents, by name: see start/seed.ts. */
export const SEEDED = 'seeded';

async function seededAgents(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  return new Set(Object.values(await seededIds(db)));
}

/** The id of an agent of the configuration file. */
export async function seededAgentId(db: Kysely<Tables>, name: string): Promise<string | undefined> {
  const ids = await seededIds(db);
  return Object.hasOwn(ids, name) ? ids[name] : undefined;
}

async function seededIds(db: Kysely<Tables>): Promise<Readonly<Record<string, string>>> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', SEEDED).executeTakeFirst();
  return row === undefined ? {} : fromJson<{ agents: Record<string, string> }>(row.value).agents;
}

async function runningRuns(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { runId: string; since: number }>> {
  const rows = await db
    .selectFrom('runs')
    .select(['thread_id', 'id', 'created_at'])
    .where('status', '=', 'running')
    .where('thread_id', 'in', ids)
    .execute();
  return new Map(rows.map(({ thread_id, id, created_at }) => [thread_id, { runId: id, since: created_at }]));
}

async function countInboxes(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, InboxCounts>> {
  const rows = await db
    .selectFrom('inbox_events')
    .select((eb) => ['thread_id', 'status', eb.fn.countAll<number>().as('count')])
    .where('thread_id', 'in', ids)
    .where('status', 'in', ['pending', 'claimed', 'dead', 'withheld'])
    .groupBy(['thread_id', 'status'])
    .execute();
  const counts = new Map<string, { -readonly [K in keyof InboxCounts]: number }>();
  for (const { thread_id, status, count } of rows) {
    const own = counts.get(thread_id) ?? { pending: 0, dead: 0, withheld: 0 };
    own[status === 'dead' || status === 'withheld' ? status : 'pending'] += Number(count);
    counts.set(thread_id, own);
  }
  return counts;
}

async function nextPlans(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('plans')
    .select((eb) => ['agent_id', eb.fn.min('next_at').as('next_at')])
    .where('agent_id', 'in', ids)
    .where('next_at', 'is not', null)
    .groupBy('agent_id')
    .execute();
  return new Map(rows.flatMap(({ agent_id, next_at }) => (next_at === null ? [] : [[agent_id, next_at]])));
}
