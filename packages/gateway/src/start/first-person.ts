import type { Config } from '../config/config.ts';
import { SEEDED } from '../domain/agents/agent-details.ts';
import { fromJson } from '../ports/store/schema/json.ts';
import type { Tx } from '../ports/store/store.ts';
import type { Seeded } from './seed-space.ts';

/** The first person that the configuration names, if that person is still in the space. */
export async function findFirstPerson(tx: Tx, { spaces }: Pick<Config, 'spaces'>): Promise<string | undefined> {
  const space = spaces.find(({ people = [] }) => people.length > 0);
  const person = space?.people?.[0];
  const row = await tx.db.selectFrom('settings').select('value').where('key', '=', SEEDED).executeTakeFirst();
  if (space === undefined || person === undefined || row === undefined) return undefined;
  const { externalId, name } = person;
  const found = tx.db
    .selectFrom('memberships')
    .innerJoin('entities', 'entities.id', 'memberships.entity_id')
    .select('entities.id')
    .where('space_id', '=', fromJson<Seeded>(row.value).spaces[space.name] ?? '')
    .where('left_at', 'is', null)
    .where('kind', '=', 'human')
    .where('deleted_at', 'is', null)
    .orderBy('entities.id');
  const named =
    externalId === undefined ? found.where('display_name', '=', name) : found.where('external_id', '=', externalId);
  return (await named.executeTakeFirst())?.id;
}
