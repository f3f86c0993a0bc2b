import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';

/** What was spent, and is reserved for requests under way. */
export interface Spent {
  readonly cost: number;
  readonly tokens: number;
}

/** Whose spending is limited. */
export interface SpendScope {
  readonly scope: 'agent' | 'person' | 'project';
  readonly id: string;
}

const OWN = {
  agent: (id: string) => sql`agent_id = ${id}`,
  person: (id: string) => sql`entity_id = ${id}`,
  project: (id: string) => sql`agent_id in (select id from agents where project_id = ${id})`,
} as const;

/**
 * What an agent, a person or a project has spent on a day. It is one statement, so that a request that is added to the sums at the same time counts
 * once.
 */
export async function spentOn(
  db: Kysely<Tables>,
  { scope, id }: SpendScope,
  { day, currency }: { readonly day: string; readonly currency: string },
): Promise<Spent> {
  const own = (table: 'usage' | 'usage_requests') => sql`
    select case when currency = ${currency} then cost else 0 end as cost, input_tokens + output_tokens as tokens
    from ${sql.table(table)} where ${OWN[scope](id)} and day = ${day}`;
  return await sumOf(db, sql`${own('usage')} union all ${own('usage_requests')}`);
}

/** What a running run has spent. */
export async function spentInRun(db: Kysely<Tables>, runId: string): Promise<Spent> {
  return await sumOf(
    db,
    sql`select cost, input_tokens + output_tokens as tokens from usage_requests where run_id = ${runId}`,
  );
}

async function sumOf(db: Kysely<Tables>, rows: ReturnType<typeof sql>): Promise<Spent> {
  const { rows: sums } = await sql<Spent>`
    select coalesce(sum(cost), 0) as cost, cast(coalesce(sum(tokens), 0) as bigint) as tokens from (${rows}) as spent`.execute(
    db,
  );
  return { cost: Number(sums[0]?.cost ?? 0), tokens: Number(sums[0]?.tokens ?? 0) };
}
