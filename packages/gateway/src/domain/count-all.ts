import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../ports/store/schema/tables.ts';
import { IS_PENDING } from './calls/is-waiting.ts';
import { inView, throughAgents, type View } from './projects/view.ts';

export interface Counts {
  readonly agents: number;
  /** Those in the inboxes of agents. */
  readonly deadEvents: number;
  readonly waitingCalls: number;
}

/** What an operator sees at a glance. */
export async function countAll(db: Kysely<Tables>, view: View): Promise<Counts> {
  const count = (rows: { count: number | string | bigint }): number => Number(rows.count);
  const [agents, deadEvents, waitingCalls] = await Promise.all([
    db
      .selectFrom('agents')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('status', '!=', 'deleted')
      .where(inView(view, 'agents'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('inbox_events')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('status', '=', sql.lit('dead'))
      .where(inInboxes(view))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll().as('count'))
      .where(IS_PENDING)
      .where(throughAgents(view, 'calls.agent_id'))
      .executeTakeFirstOrThrow(),
  ]);
  return { agents: count(agents), deadEvents: count(deadEvents), waitingCalls: count(waitingCalls) };
}

/** Only inboxes of agents are listed and redriven: who asked in a conversation has got its failure, and a deleted agent reads nothing. */
function inInboxes(view: View): RawBuilder<SqlBool> {
  return sql<SqlBool>`thread_id in (select id from agents where status <> 'deleted' and ${inView(view, 'agents')})`;
}
