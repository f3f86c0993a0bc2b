import type { Kysely } from 'kysely';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';

/**
 * The person who uses conversations of the agent. An operator who is signed in as a person of another project has none there: no
 * conversation belongs to two projects.
 */
export async function personIn(
  db: Kysely<Tables>,
  { kind, entityId }: { readonly kind: 'key' | 'entity'; readonly entityId?: string | undefined },
  { project_id }: Pick<AgentRow, 'project_id'>,
): Promise<string | undefined> {
  // An entity and an agent that it can use are in one project.
  if (kind === 'entity' || entityId === undefined) return entityId;
  const own = db.selectFrom('entities').select('id').where('id', '=', entityId).where('project_id', '=', project_id);
  return (await own.executeTakeFirst())?.id;
}
