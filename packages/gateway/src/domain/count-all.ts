import { type Kysely, sql } from 'kysely';
import type { Tables } from '../ports/store/schema/tables.ts';
import { IS_PENDING } from './calls/is-waiting.ts';

export interface Counts {
  readonly agents: number;
  readonly deadEvents: number;
  readonly waitingCalls: number;
}

/** What an operator sees at a glance. */
export async function countAll(db: Kysely<Tables>): Promise<Counts> {
  const count = (rows: { count: number | string | bigint }): number => Number(rows.count);
  const [agents, deadEvents, waitingCalls] = await Promise.all([
    db
      .selectFrom('agents')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('status', '!=', 'deleted')
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('inbox_events')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('status', '=', sql.lit('dead'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll().as('count'))
      .where(IS_PENDING)
      .executeTakeFirstOrThrow(),
  ]);
  return { agents: count(agents), deadEvents: count(deadEvents), waitingCalls: count(waitingCalls) };
}
