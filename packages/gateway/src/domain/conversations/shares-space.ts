import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';

export interface Pair {
  readonly agentId: string;
  readonly entityId: string;
}

/** True if the entity and the agent currently share a space. */
export async function sharesSpace(db: Kysely<Tables>, { agentId, entityId }: Pair): Promise<boolean> {
  const shared = await db
    .selectFrom('memberships as theirs')
    .innerJoin('memberships as agents', 'agents.space_id', 'theirs.space_id')
    .select('theirs.space_id')
    .where('theirs.entity_id', '=', entityId)
    .where('theirs.left_at', 'is', null)
    .where('agents.entity_id', '=', agentId)
    .where('agents.left_at', 'is', null)
    .limit(1)
    .execute();
  return shared.length > 0;
}
