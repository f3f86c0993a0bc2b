import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';

/** The runs of the agents that are at work in a space, by entity: what `agent.active` told those who were there. */
export async function activeRunsIn(db: Kysely<Tables>, spaceId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('agents', 'agents.id', 'runs.thread_id')
    .select(['runs.id', 'agents.entity_id'])
    .where('runs.status', '=', 'running')
    .where('runs.active_in', '=', spaceId)
    .execute();
  return new Map(rows.map(({ entity_id, id }) => [entity_id, id]));
}
