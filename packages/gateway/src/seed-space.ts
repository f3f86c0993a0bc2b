import type { PersonSeed, SpaceSeed } from './config/space-seed.ts';
import { createEntity } from './domain/entities/entity.ts';
import { lockSpace } from './domain/spaces/lock-space.ts';
import { addMember } from './domain/spaces/membership.ts';
import { createSpace } from './domain/spaces/space.ts';
import type { Services } from './ports/services.ts';
import type { Tx } from './ports/store/store.ts';

/** One start's look at the configuration. */
export interface Seeding {
  readonly services: Services;
  readonly tx: Tx;
  readonly seeded: Seeded;
  /** For the log, once it is durable. */
  readonly say: (line: string) => void;
}

/** Somebody who is in the space, or was. */
interface Known {
  readonly entityId: string;
  readonly name: string;
  readonly kind: string;
  readonly role: string;
  readonly isIn: boolean;
}

/** The space is there, and so is everybody whom the file names. */
export async function seedSpace(seeding: Seeding, space: SpaceSeed): Promise<void> {
  const { services, tx, seeded, say } = seeding;
  const { name, description } = space;
  const id = seeded.spaces[name];
  const isNew = id === undefined;
  const spaceId = id ?? (await createSpace(services, tx, { name, description })).id;
  seeded.spaces[name] = spaceId;
  if (!isNew) {
    await lockSpace(tx, spaceId);
    await describe(seeding, spaceId, space);
  }
  const place: Place = { spaceId, name, known: await knownIn(tx, spaceId), say: isNew ? () => {} : say };
  const named = new Set<string>();
  for (const agent of space.agents ?? [])
    named.add(await seedMember(seeding, place, { name: agent, entityId: seeded.agents[agent] ?? '' }));
  for (const person of space.people ?? []) named.add(await seedPerson(seeding, place, person));
  sayOthers(place, named);
}

interface Place {
  readonly spaceId: string;
  readonly name: string;
  readonly known: readonly Known[];
  readonly say: (line: string) => void;
}

async function describe({ tx, say }: Seeding, spaceId: string, { name, description }: SpaceSeed): Promise<void> {
  if (description === undefined) return;
  const changed = await tx.db
    .updateTable('spaces')
    .set({ description })
    .where('id', '=', spaceId)
    .where('description', '!=', description)
    .returning('id')
    .execute();
  if (changed.length > 0) say(`Changed the description of the space ${quote(name)} to what the configuration says.`);
}

async function knownIn(tx: Tx, spaceId: string): Promise<Known[]> {
  const rows = await tx.db
    .selectFrom('memberships')
    .innerJoin('entities', 'entities.id', 'memberships.entity_id')
    .select(['entity_id', 'display_name', 'kind', 'role', 'left_at'])
    .where('space_id', '=', spaceId)
    .where('deleted_at', 'is', null)
    .orderBy('entity_id')
    .execute();
  return rows.map(({ entity_id: entityId, display_name: name, kind, role, left_at }) => ({
    ...{ entityId, name, kind, role },
    isIn: left_at === null,
  }));
}

/** Without an id of another system a person is known by the name, within the space. */
async function seedPerson(seeding: Seeding, place: Place, { name, externalId, role }: PersonSeed): Promise<string> {
  const { services, tx } = seeding;
  const namesake = place.known.find((one) => one.kind === 'human' && one.name === name);
  const entityId =
    externalId === undefined && namesake !== undefined
      ? namesake.entityId
      : (await createEntity(services, tx, { kind: 'human', displayName: name, externalId })).id;
  return await seedMember(seeding, place, { name, entityId, role });
}

interface NamedMember {
  readonly name: string;
  readonly entityId: string;
  readonly role?: string | undefined;
}

async function seedMember(
  { services, tx }: Seeding,
  place: Place,
  { name, entityId, role }: NamedMember,
): Promise<string> {
  const { spaceId, known, say } = place;
  const there = known.find((one) => one.entityId === entityId && one.isIn);
  if (there !== undefined && (role ?? there.role) === there.role) return entityId;
  await addMember(services, tx, { spaceId, entityId, role });
  const where = `the space ${quote(place.name)}`;
  say(
    there === undefined
      ? `Added ${quote(name)} to ${where}, as the configuration says.`
      : `Changed the role of ${quote(name)} in ${where} from ${quote(there.role)} to ${quote(role ?? '')}, as the configuration says.`,
  );
  return entityId;
}

/** Where people come over HTTP there may be thousands. */
const MOST_SAID = 20;

function sayOthers({ name, known, say }: Place, named: ReadonlySet<string>): void {
  const others = known.filter(({ entityId, isIn }) => isIn && !named.has(entityId));
  const where = `The space ${quote(name)} has`;
  for (const other of others.slice(0, MOST_SAID))
    say(
      `${where} a member that the configuration does not name: ${quote(other.name)} (${other.entityId}). It is kept.`,
    );
  const more = others.length - MOST_SAID;
  if (more > 0) say(`${where} ${more} more members that the configuration does not name. They are kept.`);
}

const quote = (text: string): string => JSON.stringify(text);

/** What the configuration file made, by its names there. */
export interface Seeded {
  readonly agents: Record<string, string>;
  readonly spaces: Record<string, string>;
}
