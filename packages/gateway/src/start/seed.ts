import type { AgentConfig } from '../config/agent-config.ts';
import type { Config } from '../config/config.ts';
import { DEFAULT_PROJECT } from '../config/default-project.ts';
import { type Offered, offeredBy } from '../config/known-tool.ts';
import { projectOfSeed } from '../config/project-problems.ts';
import { SEEDED } from '../domain/agents/agent-details.ts';
import { createAgent } from '../domain/agents/create-agent.ts';
import { updateAgent } from '../domain/agents/update-agent.ts';
import type { Services } from '../ports/services.ts';
import { fromJson, toJson } from '../ports/store/schema/json.ts';
import type { Tx } from '../ports/store/store.ts';
import { inFile } from './in-file.ts';
import { seedPlans } from './seed-plans.ts';
import { seedProjects } from './seed-projects.ts';
import { movedLine, type Seeded, type Seeding, seedSpace } from './seed-space.ts';

/**
 * Makes the store match the configuration file. Agents, spaces and members that the file does not name are kept and logged. It is
 * one transaction that locks one row: if two gateways start at once, the second finds everything done.
 */
export async function seed({ store, logger }: Pick<Services, 'store' | 'logger'>, config: Config): Promise<void> {
  const { agents, spaces, plans, projects } = config;
  const offered = offeredBy(config);
  const logLines = await store.transaction(async (tx) => {
    const lines: string[] = [];
    if (agents.length === 0 && spaces.length === 0 && projects.length === 0 && !(await wasSeeded(tx))) return lines;
    const seeded = await lockSeed(tx);
    const seeding: Seeding = { tx, seeded, log: (line) => void lines.push(line), agentLimits: config.limits.agent };
    await seedProjects(tx, projects);
    for (const agent of agents) {
      const project = projectOfSeed(config, 'agents', agent.name);
      await inFile(`agent ${JSON.stringify(agent.name)}`, () => seedAgent(seeding, agent, { offered, project }));
      await seedPlans(seeding, agent.name, plans);
    }
    // An agent that the file no longer has is kept, but no plan of the file is.
    for (const name of Object.keys(seeded.agents))
      if (!agents.some((agent) => agent.name === name)) await seedPlans(seeding, name, []);
    for (const space of inLockOrder(spaces, seeded))
      await seedSpace(seeding, space, projectOfSeed(config, 'spaces', space.name));
    await logDropped(seeding, { agents, spaces });
    await tx.db
      .updateTable('settings')
      .set({ value: toJson(seeded) })
      .where('key', '=', SEEDED)
      .execute();
    return lines;
  });
  for (const line of logLines) logger.info(line);
}

async function wasSeeded(tx: Tx): Promise<boolean> {
  return (await tx.db.selectFrom('settings').select('key').where('key', '=', SEEDED).executeTakeFirst()) !== undefined;
}

async function lockSeed(tx: Tx): Promise<Seeded> {
  const none: Seeded = { agents: {}, spaces: {} };
  const row = await tx.db
    .insertInto('settings')
    .values({ key: SEEDED, value: toJson(none) })
    // An update that changes nothing locks the row.
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ value: eb.ref('settings.value') })))
    .returning('value')
    .executeTakeFirstOrThrow();
  return fromJson<Seeded>(row.value);
}

/**
 * Existing spaces are locked in the order of their ids, like everywhere (see lockSpace), so that no two transactions wait for
 * each other. New ones, which no other transaction can see, come last.
 */
function inLockOrder(spaces: Config['spaces'], { spaces: ids }: Seeded): Config['spaces'] {
  const [known, added] = [
    spaces.filter(({ name }) => ids[name] !== undefined),
    spaces.filter(({ name }) => ids[name] === undefined),
  ];
  return [...known.toSorted((one, other) => ((ids[one.name] ?? '') < (ids[other.name] ?? '') ? -1 : 1)), ...added];
}

async function seedAgent(
  { tx, seeded, log }: Seeding,
  config: AgentConfig,
  { offered, project }: { readonly offered: Offered; readonly project: string | undefined },
): Promise<void> {
  const known = await findAgent(tx, seeded.agents[config.name]);
  if (known === undefined) {
    seeded.agents[config.name] = (await createAgent(tx, { config, offered, project })).id;
    return;
  }
  if (known.project_id !== (project ?? DEFAULT_PROJECT)) log(movedLine('agent', config.name, known.project_id));
  if (known.config !== toJson(config)) {
    // Fields that the file no longer sets are removed. A damaged configuration is replaced, too.
    await updateAgent(tx, { agentId: known.id, config: { ...config }, replaces: true, offered });
    log(`Changed the agent ${JSON.stringify(config.name)} to what the configuration says.`);
  }
}

async function findAgent(
  tx: Tx,
  id: string | undefined,
): Promise<{ id: string; config: string; project_id: string } | undefined> {
  if (id === undefined) return undefined;
  const agent = tx.db.selectFrom('agents').select(['id', 'config', 'project_id']).where('id', '=', id);
  return await agent.where('status', '!=', 'deleted').executeTakeFirst();
}

/** Logs what an earlier file created and this one no longer names. Agents and spaces that were created over HTTP are ignored. */
async function logDropped(
  { tx, seeded, log }: Seeding,
  { agents, spaces }: Pick<Config, 'agents' | 'spaces'>,
): Promise<void> {
  const kept = 'is no longer in the configuration. It is kept.';
  for (const [name, id] of Object.entries(seeded.agents))
    if (!agents.some((agent) => agent.name === name) && (await findAgent(tx, id)) !== undefined)
      log(`The agent ${JSON.stringify(name)} (${id}) ${kept}`);
  for (const [name, id] of Object.entries(seeded.spaces))
    if (!spaces.some((space) => space.name === name)) log(`The space ${JSON.stringify(name)} (${id}) ${kept}`);
}
