import type { Logger } from '@lastcall/core';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import type { ConfigInput } from '../../src/config/config.ts';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';
import { deleteAgent } from '../../src/domain/agents/delete-agent.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import { createTool } from '../../src/domain/tools/change-tool.ts';
import { createInProcessBus } from '../../src/ports/bus/in-process-bus.ts';
import type { Services } from '../../src/ports/services.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { TASK_TOOLS } from '../../src/runtime/tools/task-tools.ts';
import { seed } from '../../src/start/seed.ts';
import { type Database, embedded } from '../support/stores.ts';

const agent = (name: string, instructions = '') => ({ name, instructions });
const ada = { name: 'Ada', externalId: 'ada' };

describe.each(embedded)('the configuration at a start, on $kind', ({ kind, create }) => {
  let database: Database | undefined;
  let store: Store;
  let said: string[];
  let services: Services;

  beforeEach(async () => {
    await store?.close();
    await database?.remove();
    database = await create();
    store = await database.open();
    said = [];
    services = servicesOn(store);
  });
  afterAll(async () => {
    await store.close();
    await database?.remove();
  });

  function servicesOn(one: Store): Services {
    const say = (line: string): void => void said.push(line);
    const logger: Logger = { debug: say, info: say, warn: say, error: say };
    return {
      store: one,
      bus: createInProcessBus(),
      logger,
      limits: DEFAULT_GATEWAY_LIMITS,
    };
  }

  const start = (config: ConfigInput): Promise<void> => seed(services, checkConfig(config));

  /** Names and roles of those who are in each space. */
  async function members(): Promise<Record<string, string[]>> {
    const rows = await store.db
      .selectFrom('memberships')
      .innerJoin('entities', 'entities.id', 'memberships.entity_id')
      .innerJoin('spaces', 'spaces.id', 'memberships.space_id')
      .select(['spaces.name', 'entities.display_name', 'role'])
      .where('left_at', 'is', null)
      .orderBy('entities.display_name')
      .execute();
    const byName = Map.groupBy(rows, ({ name }) => name);
    return Object.fromEntries(
      [...byName].map(([name, own]) => [name, own.map(({ display_name, role }) => `${display_name} ${role}`)]),
    );
  }

  async function idOf(table: 'spaces' | 'agents', name: string): Promise<string> {
    const rows = await store.db.selectFrom(table).select('id').where('name', '=', name).execute();
    expect(rows).toHaveLength(1);
    return rows[0]?.id ?? '';
  }

  test('[G62] the configuration at a start adds agents, people and members of a later file to the existing spaces', async () => {
    await start({ agents: [agent('Anna')], spaces: [{ name: 'Desk', agents: ['Anna'], people: [ada] }] });
    expect(said).toEqual([]);
    await start({
      agents: [agent('Anna'), agent('Bert')],
      spaces: [
        { name: 'Desk', agents: ['Anna', 'Bert'], people: [ada, { name: 'Bob', role: 'host' }] },
        { name: 'Attic', agents: ['Anna'], people: [ada] },
      ],
    });
    expect(await members()).toEqual({
      Desk: ['Ada member', 'Anna member', 'Bert member', 'Bob host'],
      Attic: ['Ada member', 'Anna member'],
    });
    expect(said).toEqual([
      'Added "Bert" to the space "Desk", as the configuration says.',
      'Added "Bob" to the space "Desk", as the configuration says.',
    ]);
  });

  test('[G62] the configuration at a start changes nothing and logs nothing if everything exists already', async () => {
    const config = {
      agents: [agent('Anna')],
      // A person without an external id is identified by the name, within the space.
      spaces: [{ name: 'Desk', description: 'Here.', agents: ['Anna'], people: [ada, { name: 'Bob' }] }],
    };
    await start(config);
    const before = await tables(store);
    await start(config);
    await start(config);
    expect(await tables(store)).toEqual(before);
    expect(said).toEqual([]);
  });

  test('[G62] the configuration at a start keeps objects that it does not name, and logs that', async () => {
    await start({
      agents: [agent('Anna'), agent('Bert')],
      spaces: [{ name: 'Desk', agents: ['Anna', 'Bert'], people: [ada] }, { name: 'Attic' }],
    });
    const desk = await idOf('spaces', 'Desk');
    await store.transaction(async (tx) => {
      const { id } = await createEntity(tx, { kind: 'human', displayName: 'Guest' });
      await addMember(tx, { spaceId: desk, entityId: id });
    });
    await start({ agents: [agent('Anna')], spaces: [{ name: 'Desk', agents: ['Anna'], people: [ada] }] });
    expect(await members()).toEqual({ Desk: ['Ada member', 'Anna member', 'Bert member', 'Guest member'] });
    const [bert, attic] = [await idOf('agents', 'Bert'), await idOf('spaces', 'Attic')];
    expect(said).toEqual([
      expect.stringMatching(/^The space "Desk" has a member that the configuration does not name: "Bert" \(.*\)\. /),
      expect.stringMatching(/^The space "Desk" has a member that the configuration does not name: "Guest" \(.*\)\. /),
      `The agent "Bert" (${bert}) is no longer in the configuration. It is kept.`,
      `The space "Attic" (${attic}) is no longer in the configuration. It is kept.`,
    ]);
    said.length = 0;
    // Named again, it is the same agent as before.
    await start({ agents: [agent('Anna'), agent('Bert')], spaces: [] });
    expect(await idOf('agents', 'Bert')).toBe(bert);
  });

  test('[G62] the configuration at a start logs the number of members that it does not name, if there are many', async () => {
    await start({ spaces: [{ name: 'Desk' }] });
    const desk = await idOf('spaces', 'Desk');
    for (let count = 0; count < 25; count++)
      await store.transaction(async (tx) => {
        const { id } = await createEntity(tx, { kind: 'human', displayName: `Guest ${count}` });
        await addMember(tx, { spaceId: desk, entityId: id });
      });
    await start({ spaces: [{ name: 'Desk' }] });
    expect(said).toHaveLength(21);
    expect(said[20]).toBe('The space "Desk" has 5 more members that the configuration does not name. They are kept.');
  });

  test('[G62] the configuration at a start resets agents, roles and descriptions to its own values', async () => {
    const config = {
      agents: [agent('Anna', 'Be brief.')],
      spaces: [{ name: 'Desk', description: 'Here.', agents: ['Anna'], people: [{ ...ada, role: 'host' }] }],
    };
    await start(config);
    const [anna, desk] = [await idOf('agents', 'Anna'), await idOf('spaces', 'Desk')];
    const { id: entityId } = await store.db
      .selectFrom('entities')
      .select('id')
      .where('external_id', '=', 'ada')
      .executeTakeFirstOrThrow();
    await store.transaction(async (tx) => {
      await updateAgent(tx, { agentId: anna, config: { instructions: 'Be long.', description: 'Long.' } });
      await addMember(tx, { spaceId: desk, entityId, role: 'guest' });
      await removeMember(tx, { spaceId: desk, entityId: anna });
    });
    await start({ ...config, spaces: [{ ...config.spaces[0], name: 'Desk', description: 'There.' }] });
    expect(await members()).toEqual({ Desk: ['Ada host', 'Anna member'] });
    const { config: kept } = await store.db.selectFrom('agents').select('config').executeTakeFirstOrThrow();
    expect(JSON.parse(kept)).toEqual(agent('Anna', 'Be brief.'));
    const space = await store.db.selectFrom('spaces').select('description').executeTakeFirstOrThrow();
    expect(space.description).toBe('There.');
    expect(said).toEqual([
      'Changed the agent "Anna" to what the configuration says.',
      'Changed the description of the space "Desk" to what the configuration says.',
      'Added "Anna" to the space "Desk", as the configuration says.',
      'Changed the role of "Ada" in the space "Desk" from "guest" to "host", as the configuration says.',
    ]);
  });

  test('[G62] the configuration at a start creates an agent again that was deleted and is still named, and adds it to its spaces', async () => {
    const config = { agents: [agent('Anna')], spaces: [{ name: 'Desk', agents: ['Anna'] }] };
    await start(config);
    const first = await idOf('agents', 'Anna');
    await store.transaction((tx) => deleteAgent(tx, first));
    await start(config);
    expect(await members()).toEqual({ Desk: ['Anna member'] });
  });

  test.each(Object.keys(TASK_TOOLS))(
    '[C13] an agent and a sub-agent of the configuration file may name %s, which comes with the gateway',
    async (name) => {
      const research = {
        executionType: 'gateway',
        execution: { agentConfig: { instructions: '', tools: [name] } },
      } as const;
      await start({ tools: { research }, agents: [{ ...agent('Anna'), tools: ['research', name] }] });
      const { config } = await store.db.selectFrom('agents').select('config').executeTakeFirstOrThrow();
      expect(JSON.parse(config).tools).toEqual(['research', name]);
      const created = store.transaction((tx) =>
        createTool(tx, { name: 'research', ...research }, { isTaken: () => false }),
      );
      await expect(created).resolves.toMatchObject({ name: 'research' });
    },
  );

  test('[G62] the configuration at a start is applied once if several gateways start at the same time', async () => {
    await start({ agents: [agent('Anna')], spaces: [{ name: 'Desk', agents: ['Anna'] }] });
    const config = checkConfig({
      agents: [agent('Anna', 'Changed.'), agent('Bert')],
      spaces: [
        { name: 'Desk', agents: ['Anna', 'Bert'], people: [ada, { name: 'Bob' }] },
        { name: 'Attic', people: [ada, { name: 'Bob' }] },
      ],
    });
    // SQLite has one gateway, so the same store is used twice.
    const others = kind === 'postgres' ? [await database?.open(), await database?.open()] : [store, store];
    await Promise.all(others.map((one) => seed(servicesOn(one ?? store), config)));
    expect(await members()).toEqual({
      Desk: ['Ada member', 'Anna member', 'Bert member', 'Bob member'],
      Attic: ['Ada member', 'Bob member'],
    });
    const people = await store.db.selectFrom('entities').select('id').where('kind', '=', 'human').execute();
    // One Ada, who has an id, and a Bob of each space.
    expect(people).toHaveLength(3);
    const { config_version } = await store.db
      .selectFrom('agents')
      .select('config_version')
      .where('name', '=', 'Anna')
      .executeTakeFirstOrThrow();
    expect(config_version).toBe(2);
    if (kind === 'postgres') for (const one of others) await one?.close();
  });

  test('[O1] projects of the file exist after a start, with their agents, spaces, people and limits', async () => {
    const config: ConfigInput = {
      agents: [agent('Clerk'), agent('Bot')],
      spaces: [
        { name: 'Office', agents: ['Clerk'], people: [ada] },
        { name: 'Lobby', agents: ['Bot'], people: [ada] },
      ],
      projects: [{ id: 'acme', name: 'Acme', spend: { perDay: 5 }, agents: ['Clerk'], spaces: ['Office'] }],
    };
    await start(config);
    await start(config);
    const projectsOf = async (table: 'agents' | 'spaces') =>
      await store.db.selectFrom(table).select(['name', 'project_id']).orderBy('name').execute();
    expect(await projectsOf('agents')).toEqual([
      { name: 'Bot', project_id: 'default' },
      { name: 'Clerk', project_id: 'acme' },
    ]);
    expect(await projectsOf('spaces')).toEqual([
      { name: 'Lobby', project_id: 'default' },
      { name: 'Office', project_id: 'acme' },
    ]);
    const people = store.db.selectFrom('entities').select('project_id').where('external_id', '=', 'ada');
    expect((await people.orderBy('project_id').execute()).map((one) => one.project_id)).toEqual(['acme', 'default']);
    await start({ ...config, projects: [{ id: 'acme', agents: ['Clerk', 'Bot'], spaces: ['Office', 'Lobby'] }] });
    expect(said).toContain(
      'The agent "Bot" stays in the project "default", although the configuration names another: nothing moves between projects.',
    );
    const acme = await store.db.selectFrom('projects').select(['name', 'spend']).where('id', '=', 'acme').execute();
    expect(acme).toEqual([{ name: 'acme', spend: null }]);
  });

  test('[O1] a file that moves existing objects into a project starts, and does not join members of two projects', async () => {
    const clerk = { agents: [agent('Clerk')], spaces: [{ name: 'Office', agents: ['Clerk'], people: [ada] }] };
    await start(clerk);
    const before = await members();
    await start({
      agents: [...clerk.agents, agent('Helper')],
      spaces: [
        { name: 'Office', agents: ['Clerk', 'Helper'], people: [ada] },
        { name: 'Yard', agents: ['Clerk', 'Helper'] },
      ],
      projects: [{ id: 'acme', agents: ['Clerk', 'Helper'], spaces: ['Office', 'Yard'] }],
    });
    expect(await members()).toEqual({ ...before, Yard: ['Helper member'] });
    expect(said).toContain(
      'The agent "Clerk" is not added to the space "Yard": they are in different projects, and nothing moves between projects.',
    );
  });

  test('a tool that does not exist stops the start, and the error names the agent that wants it', async () => {
    const wrong = { ...agent('Ben'), tools: ['lok_up'] };
    await expect(start({ agents: [agent('Ada'), wrong] })).rejects.toThrow(
      /^The agent "Ben" of the configuration cannot be set: .+ tools\[0\] names "lok_up", which is not a registered tool\.$/,
    );
    expect((await tables(store)) as object).toMatchObject({ agents: [] });
  });

  test.each([
    [{ projects: [{ id: 'a' }, { id: 'a' }] }, 'projects[1].id is "a" a second time'],
    [{ projects: [{ id: 'a b' }] }, 'projects[0].id must be'],
    [{ projects: [{ id: 'a', agents: ['None'] }] }, 'projects[0].agents[0] is not an agent'],
    [
      {
        agents: [agent('A')],
        projects: [
          { id: 'a', agents: ['A'] },
          { id: 'b', agents: ['A'] },
        ],
      },
      'projects[1].agents[0] belongs',
    ],
    [
      { agents: [agent('A')], spaces: [{ name: 'S', agents: ['A'] }], projects: [{ id: 'a', spaces: ['S'] }] },
      'spaces[0].agents[0] is in another project',
    ],
    [{ projects: [{ id: 'a', spend: { perDay: 1, currency: 'EUR' } }] }, 'projects[0].spend.currency'],
  ])('[O1] invalid projects are refused: %j', (config, message) => {
    expect(() => checkConfig(config)).toThrow(message);
  });
});

async function tables({ db }: Store): Promise<unknown> {
  return {
    agents: await db.selectFrom('agents').selectAll().orderBy('id').execute(),
    entities: await db.selectFrom('entities').selectAll().orderBy('id').execute(),
    memberships: await db.selectFrom('memberships').selectAll().orderBy('entity_id').execute(),
    spaces: await db.selectFrom('spaces').selectAll().orderBy('id').execute(),
    events: await db.selectFrom('stream_events').selectAll().orderBy('stream').orderBy('seq').execute(),
  };
}
