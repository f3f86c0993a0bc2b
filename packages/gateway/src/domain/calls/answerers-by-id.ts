import type { Kysely } from 'kysely';
import type { Answerers } from '../../config/tool-config.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';

/**
 * The answerers with the ids of their entities. A configuration file names people by their `externalId`, because their ids do not
 * exist before the first start. They are looked up in the project of the agent.
 */
export async function answerersById(
  db: Kysely<Tables>,
  agentId: string,
  answerers: Answerers | undefined,
): Promise<Answerers | undefined> {
  const names = (answerers?.entities ?? []).filter(isId);
  if (names.length === 0) return answerers;
  const rows = await db
    .selectFrom('agents')
    .innerJoin('entities', 'entities.project_id', 'agents.project_id')
    .select(['entities.id', 'entities.external_id'])
    .where('agents.id', '=', agentId)
    .where((eb) => eb.or([eb('entities.id', 'in', names), eb('entities.external_id', 'in', names)]))
    .where('entities.deleted_at', 'is', null)
    .execute();
  // An id comes first: the name that another person was given must not take the place of the one who was meant.
  const ids = new Map([
    ...rows.map(({ id, external_id }) => [external_id, id] as const),
    ...rows.map(({ id }) => [id, id] as const),
  ]);
  return { ...answerers, entities: answerers?.entities?.map((name) => ids.get(name) ?? name) };
}
