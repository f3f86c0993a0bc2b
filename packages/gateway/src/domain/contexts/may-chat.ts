import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/tables.ts';
import { notFound } from '../api-error.ts';
import type { ContextUser } from './context.ts';

/** An entity may open contexts of the agents that share a space with it. Of others it is not told that they exist. */
export async function assertMayChat(
  db: Kysely<Tables>,
  { agentId, name }: { readonly agentId: string; readonly name: string },
  user: ContextUser,
): Promise<void> {
  if (user.kind === 'key') return;
  const shared = await db
    .selectFrom('memberships as theirs')
    .innerJoin('memberships as agents', 'agents.space_id', 'theirs.space_id')
    .select('theirs.space_id')
    .where('theirs.entity_id', '=', user.entityId)
    .where('theirs.left_at', 'is', null)
    .where('agents.entity_id', '=', agentId)
    .where('agents.left_at', 'is', null)
    .limit(1)
    .execute();
  if (shared.length === 0) throw notFound('agent', name);
}
