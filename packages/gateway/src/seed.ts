import { createAgent } from './agents/create-agent.ts';
import { updateAgent } from './agents/update-agent.ts';
import type { AgentConfig } from './config/agent-config.ts';
import type { Config } from './config/config.ts';
import { findTool } from './config/registered-tool.ts';
import type { PersonSeed, SpaceSeed } from './config/space-seed.ts';
import { createEntity } from './entities/entity.ts';
import type { Services } from './services.ts';
import { addMember } from './spaces/membership.ts';
import { createSpace } from './spaces/space.ts';
import { fromJson, toJson } from './store/json.ts';
import type { Tx } from './store/store.ts';

/**
 * Brings the store up to the configuration file: its agents exist, with its configuration; its spaces are made once. One
 * transaction behind one row, so that of two gateways that start at once the second finds everything done.
 */
export async function seed(services: Services, { agents, spaces, tools }: Config): Promise<void> {
  if (agents.length === 0 && spaces.length === 0) return;
  await services.store.transaction(async (tx) => {
    const seeded = await lockSeed(tx);
    const isKnownTool = (name: string): boolean => findTool(tools, name) !== undefined;
    for (const config of agents) await seedAgent(services, tx, { config, seeded, isKnownTool });
    for (const space of spaces) await seedSpace(services, tx, space, seeded);
    await tx.db
      .updateTable('settings')
      .set({ value: toJson(seeded) })
      .where('key', '=', KEY)
      .execute();
  });
}

/** What the configuration file made, by its names there. */
interface Seeded {
  readonly agents: Record<string, string>;
  readonly spaces: Record<string, string>;
}

const KEY = 'seeded';

async function lockSeed(tx: Tx): Promise<Seeded> {
  const none: Seeded = { agents: {}, spaces: {} };
  const row = await tx.db
    .insertInto('settings')
    .values({ key: KEY, value: toJson(none) })
    // An update that changes nothing takes the row's lock.
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ value: eb.ref('settings.value') })))
    .returning('value')
    .executeTakeFirstOrThrow();
  return fromJson<Seeded>(row.value);
}

async function seedAgent(
  services: Services,
  tx: Tx,
  { config, seeded, isKnownTool }: { config: AgentConfig; seeded: Seeded; isKnownTool: (name: string) => boolean },
): Promise<void> {
  const id = seeded.agents[config.name];
  const known =
    id === undefined ? undefined : await tx.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst();
  if (known === undefined || known.status === 'deleted') {
    seeded.agents[config.name] = (await createAgent(services, tx, { config, isKnownTool })).id;
  } else if (known.config !== toJson(config)) {
    // What the file says no more is taken away.
    const gone = Object.keys(fromJson<object>(known.config)).map((field) => [field, null] as const);
    await updateAgent(services, tx, {
      agentId: known.id,
      config: { ...Object.fromEntries(gone), ...config },
      isKnownTool,
    });
  }
}

async function seedSpace(services: Services, tx: Tx, space: SpaceSeed, seeded: Seeded): Promise<void> {
  const { name, description } = space;
  if (seeded.spaces[name] !== undefined) return;
  const made = await createSpace(services, tx, { name, description });
  seeded.spaces[name] = made.id;
  for (const agent of space.agents ?? []) {
    const entityId = seeded.agents[agent];
    if (entityId !== undefined) await addMember(services, tx, { spaceId: made.id, entityId });
  }
  for (const person of space.people ?? []) await seedPerson(services, tx, made.id, person);
}

async function seedPerson(
  services: Services,
  tx: Tx,
  spaceId: string,
  { name, externalId, role }: PersonSeed,
): Promise<void> {
  const { id } = await createEntity(services, tx, { kind: 'human', displayName: name, externalId });
  await addMember(services, tx, { spaceId, entityId: id, role });
}
