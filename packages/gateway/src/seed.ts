import type { AgentConfig } from './config/agent-config.ts';
import type { Config } from './config/config.ts';
import { findTool } from './config/registered-tool.ts';
import { createAgent } from './domain/agents/create-agent.ts';
import { updateAgent } from './domain/agents/update-agent.ts';
import type { Services } from './ports/services.ts';
import { fromJson, toJson } from './ports/store/json.ts';
import type { Tx } from './ports/store/store.ts';
import type { Seeded } from './seed-space.ts';
import { type Seeding, seedSpace } from './seed-space.ts';

/**
 * Brings the store up to the configuration file: what the file says is so after each start, and what it does not name is kept and
 * said. One transaction behind one row, so that of two gateways that start at once the second finds everything done.
 */
export async function seed(services: Services, { agents, spaces, tools }: Config): Promise<void> {
  const said = await services.store.transaction(async (tx) => {
    const lines: string[] = [];
    if (agents.length === 0 && spaces.length === 0 && !(await wasSeeded(tx))) return lines;
    const seeded = await lockSeed(tx);
    const seeding: Seeding = { services, tx, seeded, say: (line) => void lines.push(line) };
    const isKnownTool = (name: string): boolean => findTool(tools, name) !== undefined;
    for (const config of agents) await seedAgent(seeding, config, isKnownTool);
    for (const space of inOrderOfLocks(spaces, seeded)) await seedSpace(seeding, space);
    await sayDropped(seeding, { agents, spaces });
    await tx.db
      .updateTable('settings')
      .set({ value: toJson(seeded) })
      .where('key', '=', KEY)
      .execute();
    return lines;
  });
  for (const line of said) services.logger.info(line);
}

const KEY = 'seeded';

async function wasSeeded(tx: Tx): Promise<boolean> {
  return (await tx.db.selectFrom('settings').select('key').where('key', '=', KEY).executeTakeFirst()) !== undefined;
}

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

/** Whoever locks several spaces does so in the order of their ids: see lockSpace. New ones, which nobody else knows of, come last. */
function inOrderOfLocks(spaces: Config['spaces'], { spaces: ids }: Seeded): Config['spaces'] {
  const [known, made] = [
    spaces.filter(({ name }) => ids[name] !== undefined),
    spaces.filter(({ name }) => ids[name] === undefined),
  ];
  return [...known.toSorted((one, other) => ((ids[one.name] ?? '') < (ids[other.name] ?? '') ? -1 : 1)), ...made];
}

async function seedAgent(
  { services, tx, seeded, say }: Seeding,
  config: AgentConfig,
  isKnownTool: (name: string) => boolean,
): Promise<void> {
  const known = await findAgent(tx, seeded.agents[config.name]);
  if (known === undefined) {
    seeded.agents[config.name] = (await createAgent(services, tx, { config, isKnownTool })).id;
  } else if (known.config !== toJson(config)) {
    // What the file says no more is taken away.
    const gone = Object.keys(fromJson<object>(known.config)).map((field) => [field, null] as const);
    await updateAgent(services, tx, {
      agentId: known.id,
      config: { ...Object.fromEntries(gone), ...config },
      isKnownTool,
    });
    say(`Changed the agent ${JSON.stringify(config.name)} to what the configuration says.`);
  }
}

async function findAgent(tx: Tx, id: string | undefined): Promise<{ id: string; config: string } | undefined> {
  if (id === undefined) return undefined;
  const agent = tx.db.selectFrom('agents').select(['id', 'config']).where('id', '=', id);
  return await agent.where('status', '!=', 'deleted').executeTakeFirst();
}

/** Of what an earlier file made. What was made over HTTP was never the file's. */
async function sayDropped(
  { tx, seeded, say }: Seeding,
  { agents, spaces }: Pick<Config, 'agents' | 'spaces'>,
): Promise<void> {
  const kept = 'is no longer in the configuration. It is kept.';
  for (const [name, id] of Object.entries(seeded.agents))
    if (!agents.some((agent) => agent.name === name) && (await findAgent(tx, id)) !== undefined)
      say(`The agent ${JSON.stringify(name)} (${id}) ${kept}`);
  for (const [name, id] of Object.entries(seeded.spaces))
    if (!spaces.some((space) => space.name === name)) say(`The space ${JSON.stringify(name)} (${id}) ${kept}`);
}
