import type { AgentLimitsInput } from '../config/agent-limits.ts';
import { DEFAULT_PROJECT } from '../config/default-project.ts';
import type { PersonSeed, SpaceSeed } from '../config/space-seed.ts';
import { createEntity } from '../domain/entities/entity.ts';
import { lockSpace } from '../domain/spaces/lock-space.ts';
import { addMember } from '../domain/spaces/membership.ts';
import { createSpace } from '../domain/spaces/space.ts';
import type { Tx } from '../ports/store/store.ts';

/** What one run of the seed needs. */
export interface Seeding {
  readonly tx: Tx;
  readonly seeded: Seeded;
  /** Adds a line to the log, once the transaction is committed. */
  readonly log: (line: string) => void;
  /** The limits of agents that set none. */
  readonly agentLimits?: AgentLimitsInput | undefined;
}

/** A member of the space, or a former one. */
interface KnownMember {
  readonly entityId: string;
  readonly name: string;
  readonly kind: string;
  readonly role: string;
  readonly isMember: boolean;
}

/** Creates the space if it is missing, and adds every member that the file names. */
export async function seedSpace(seeding: Seeding, space: SpaceSeed, project?: string): Promise<void> {
  const { tx, seeded, log } = seeding;
  const { name, description, metadata } = space;
  const id = seeded.spaces[name];
  const isNew = id === undefined;
  const spaceId = id ?? (await createSpace(tx, { name, description, metadata, project })).id;
  seeded.spaces[name] = spaceId;
  const { project_id } = await lockSpace(tx, spaceId);
  if (project_id !== (project ?? DEFAULT_PROJECT)) log(movedLine('space', name, project_id));
  if (!isNew) {
    await updateDescription(seeding, spaceId, space);
  }
  const seededSpace: SeededSpace = {
    spaceId,
    name,
    project: project_id,
    known: await knownMembers(tx, spaceId),
    log: isNew ? () => {} : log,
  };
  const named = new Set<string>();
  for (const agent of space.agents ?? [])
    named.add(await seedMember(seeding, seededSpace, { name: agent, entityId: seeded.agents[agent] ?? '' }));
  for (const person of space.people ?? []) named.add(await seedPerson(seeding, seededSpace, person));
  logOtherMembers(seededSpace, named);
}

interface SeededSpace {
  readonly spaceId: string;
  readonly name: string;
  /** Its people belong to the same project. */
  readonly project: string;
  readonly known: readonly KnownMember[];
  readonly log: (line: string) => void;
  /** The limits of agents that set none. */
  readonly agentLimits?: AgentLimitsInput | undefined;
}

async function updateDescription(
  { tx, log }: Seeding,
  spaceId: string,
  { name, description }: SpaceSeed,
): Promise<void> {
  if (description === undefined) return;
  const changed = await tx.db
    .updateTable('spaces')
    .set({ description })
    .where('id', '=', spaceId)
    .where('description', '!=', description)
    .returning('id')
    .execute();
  if (changed.length > 0) log(`Changed the description of the space ${quote(name)} to what the configuration says.`);
}

async function knownMembers(tx: Tx, spaceId: string): Promise<KnownMember[]> {
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
    isMember: left_at === null,
  }));
}

/** A person without an id of another system is found by name within the space. */
async function seedPerson(
  seeding: Seeding,
  seededSpace: SeededSpace,
  { name, externalId, role }: PersonSeed,
): Promise<string> {
  const { tx } = seeding;
  const namesake = seededSpace.known.find((one) => one.kind === 'human' && one.name === name);
  const entityId =
    externalId === undefined && namesake !== undefined
      ? namesake.entityId
      : (await createEntity(tx, { kind: 'human', project: seededSpace.project, displayName: name, externalId })).id;
  return await seedMember(seeding, seededSpace, { name, entityId, role });
}

interface NamedMember {
  readonly name: string;
  readonly entityId: string;
  readonly role?: string | undefined;
}

async function seedMember(
  seeding: Seeding,
  seededSpace: SeededSpace,
  { name, entityId, role }: NamedMember,
): Promise<string> {
  const { tx } = seeding;
  const { spaceId, known, log } = seededSpace;
  const member = known.find((one) => one.entityId === entityId && one.isMember);
  if (member !== undefined && (role ?? member.role) === member.role) return entityId;
  if (!(await isIn(tx, entityId, seededSpace.project))) {
    seeding.log(
      `The agent ${quote(name)} is not added to the space ${quote(seededSpace.name)}: they are in different projects, and nothing moves between projects.`,
    );
    return entityId;
  }
  await addMember(tx, { spaceId, entityId, role });
  const where = `the space ${quote(seededSpace.name)}`;
  log(
    member === undefined
      ? `Added ${quote(name)} to ${where}, as the configuration says.`
      : `Changed the role of ${quote(name)} in ${where} from ${quote(member.role)} to ${quote(role ?? '')}, as the configuration says.`,
  );
  return entityId;
}

/** An agent that existed before the file named its project stays where it is. People are created in the project of the space. */
async function isIn(tx: Tx, entityId: string, project: string): Promise<boolean> {
  const entity = tx.db.selectFrom('entities').select('id').where('id', '=', entityId);
  return (await entity.where('project_id', '=', project).executeTakeFirst()) !== undefined;
}

/** A space that people join over HTTP may have thousands of members, so only this many are logged one by one. */
const MAX_LOGGED = 20;

function logOtherMembers({ name, known, log }: SeededSpace, named: ReadonlySet<string>): void {
  const others = known.filter(({ entityId, isMember }) => isMember && !named.has(entityId));
  const where = `The space ${quote(name)} has`;
  for (const other of others.slice(0, MAX_LOGGED))
    log(
      `${where} a member that the configuration does not name: ${quote(other.name)} (${other.entityId}). It is kept.`,
    );
  const more = others.length - MAX_LOGGED;
  if (more > 0) log(`${where} ${more} more members that the configuration does not name. They are kept.`);
}

/** What was created in a project stays in it. */
export function movedLine(what: 'agent' | 'space', name: string, project: string): string {
  return `The ${what} ${quote(name)} stays in the project ${quote(project)}, although the configuration names another: nothing moves between projects.`;
}

const quote = (text: string): string => JSON.stringify(text);

/** Ids of what the configuration file created, by their names in the file. */
export interface Seeded {
  readonly agents: Record<string, string>;
  readonly spaces: Record<string, string>;
}
