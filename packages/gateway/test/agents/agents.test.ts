import { expect, test } from 'vitest';
import { getAgent, listAgents } from '../../src/domain/agents/agent.ts';
import { listVersions } from '../../src/domain/agents/agent-versions.ts';
import { createAgent, type NewAgent } from '../../src/domain/agents/create-agent.ts';
import { pauseAgent, resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { type AgentUpdate, updateAgent } from '../../src/domain/agents/update-agent.ts';
import { getEntity } from '../../src/domain/entities/entity.ts';
import { listMembers } from '../../src/domain/spaces/membership.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

const CONFIG = { name: 'Bot', instructions: 'Be kind.' };

describeIdleWorld('agents', ({ world }) => {
  const make = (given: Partial<NewAgent> = {}) => world.in((tx) => createAgent(tx, { config: CONFIG, ...given }));
  const change = (agentId: string, config: AgentUpdate['config'], more: Partial<AgentUpdate> = {}) =>
    world.in((tx) => updateAgent(tx, { agentId, config, ...more }));
  const pause = (agentId: string) => world.in((tx) => pauseAgent(tx, agentId));
  const resume = (agentId: string) => world.in((tx) => resumeAgent(tx, agentId));
  const setStatus = (agentId: string, status: 'invalid') =>
    world.in((tx) =>
      tx.db.updateTable('agents').set({ status, last_error: '"broken"' }).where('id', '=', agentId).execute(),
    );

  test('an agent is an entity, a thread, and a member of its spaces, from the start', async () => {
    const [one, two] = [await world.space(), await world.space()];
    const agent = await make({ spaceIds: [two, one, two], metadata: { team: 'a' } });
    expect(await getAgent(world.store.db, agent.id)).toEqual(agent);
    expect(agent).toMatchObject({ name: 'Bot', status: 'active', configVersion: 1, config: CONFIG });
    expect(await getEntity(world.store.db, agent.entityId)).toMatchObject({
      kind: 'agent',
      displayName: 'Bot',
      metadata: { team: 'a' },
    });
    const thread = await world.store.db.selectFrom('threads').selectAll().where('id', '=', agent.id).executeTakeFirst();
    expect(thread).toMatchObject({ kind: 'agent', agent_id: agent.id, epoch: 0, lease_owner: null });
    for (const id of [one, two])
      expect((await listMembers(world.store.db, { spaceId: id })).items).toMatchObject([{ entityId: agent.entityId }]);
  });

  test('[G10] the tag of an agent is unguessable, unique, and not shown', async () => {
    const [one, two] = [await make(), await make()];
    const rows = await world.store.db.selectFrom('agents').select('tag').where('id', 'in', [one.id, two.id]).execute();
    expect(new Set(rows.map(({ tag }) => tag)).size).toBe(2);
    for (const { tag } of rows) {
      expect(tag).toMatch(/^q\d{12}$/);
      expect(JSON.stringify([one, two])).not.toContain(tag);
    }
  });

  test('no agent is created if its space does not exist', async () => {
    const before = (await listAgents(world.store.db, { limit: 200 })).items.length;
    await expect(make({ spaceIds: ['none'] })).rejects.toMatchObject({ code: 'not_found' });
    expect((await listAgents(world.store.db, { limit: 200 })).items).toHaveLength(before);
  });

  test.each([
    ['a name that is missing', { instructions: 'x' }, 'name'],
    ['a name of the wrong type', { ...CONFIG, name: 7 }, 'name'],
    ['half a character in the name', { ...CONFIG, name: 'Bot \ud800' }, 'name'],
    ['an unknown field', { ...CONFIG, colour: 'blue' }, 'colour'],
    ['a wrong limit', { ...CONFIG, limits: { maxSteps: 0 } }, 'limits.maxSteps'],
    ['no object', 'Bot', ''],
    ['nothing', null, ''],
  ])('[G15] %s is refused with its path', async (_name, config, path) => {
    await expect(make({ config })).rejects.toMatchObject({
      code: expect.stringMatching(/^invalid_(config|request)$/),
      details: { path },
    });
  });

  test('[G15] an unregistered tool is refused with its path, if the registered tools are known', async () => {
    const given = {
      config: { ...CONFIG, tools: ['weather', 'wether'] },
      offered: { isKnownTool: (name: string) => name === 'weather', definitions: {}, currency: 'USD' },
    };
    await expect(make(given)).rejects.toMatchObject({
      code: 'invalid_config',
      details: { path: 'tools[1]' },
    });
  });

  test('[G15] a change raises the version, and keeps fields that it does not name', async () => {
    const agent = await make({ config: { ...CONFIG, description: 'Kind.', limits: { maxSteps: 3 } } });
    const changed = await change(agent.id, { name: 'Robot', description: null });
    expect(changed).toMatchObject({ name: 'Robot', configVersion: 2 });
    expect(changed.config).toEqual({ name: 'Robot', instructions: 'Be kind.', limits: { maxSteps: 3 } });
    expect(await getAgent(world.store.db, agent.id)).toEqual(changed);
    expect(await getEntity(world.store.db, agent.entityId)).toMatchObject({ displayName: 'Robot' });
  });

  test('[G15] a change to what is stored already makes no version', async () => {
    const config = { ...CONFIG, limits: { maxSteps: 3, maxAttempts: 2 } };
    const agent = await make({ config });
    expect(await change(agent.id, {})).toEqual(agent);
    expect(await change(agent.id, { limits: { maxAttempts: 2, maxSteps: 3 }, description: null })).toEqual(agent);
    expect(await getAgent(world.store.db, agent.id)).toEqual(agent);
    expect((await listVersions(world.store.db, agent.id)).items).toMatchObject([{ version: 1 }]);
  });

  test('[G15] an invalid change is refused with its path, and the old configuration stays', async () => {
    const agent = await make();
    await expect(change(agent.id, { name: 'Robot', limits: { maxSteps: 'many' } })).rejects.toMatchObject({
      code: 'invalid_config',
      details: { path: 'limits.maxSteps' },
    });
    await expect(change(agent.id, { instructions: null })).rejects.toMatchObject({
      code: 'invalid_config',
      details: { path: 'instructions' },
    });
    expect(await getAgent(world.store.db, agent.id)).toEqual(agent);
  });

  test('[G15] of changes at the same moment none is lost', async () => {
    const agent = await make();
    await Promise.all([
      change(agent.id, { description: 'Kind.' }),
      change(agent.id, { model: 'rehearsal' }),
      change(agent.id, { limits: { maxSteps: 3 } }),
      change(agent.id, { batch: { onError: 'continue' } }),
    ]);
    expect(await getAgent(world.store.db, agent.id)).toMatchObject({
      configVersion: 5,
      config: { description: 'Kind.', model: 'rehearsal', limits: { maxSteps: 3 }, batch: { onError: 'continue' } },
    });
  });

  test('[G16] pause and resume change the status only once', async () => {
    const agent = await make();
    expect(await pause(agent.id)).toMatchObject({ status: 'paused' });
    expect(await pause(agent.id)).toMatchObject({ status: 'paused' });
    expect(await getAgent(world.store.db, agent.id)).toMatchObject({ status: 'paused' });
    expect(await resume(agent.id)).toMatchObject({ status: 'active' });
    expect(await getAgent(world.store.db, agent.id)).toMatchObject({ status: 'active' });
  });

  test('[G16] resuming wakes the agent', async () => {
    const ann = await world.person();
    const agent = await make();
    await pause(agent.id);
    await world.say(await world.space('Space', [ann, agent.id]), ann, 'Wake up');
    world.wakes.length = 0;
    await resume(agent.id);
    expect(world.wakes).toEqual([agent.id]);
  });

  test('[G15] fixing a configuration wakes the agent that it had stopped; a paused agent stays asleep', async () => {
    const ann = await world.person();
    const [broken, paused] = [await make(), await make()];
    const space = await world.space('Space', [ann, broken.id, paused.id]);
    await world.say(space, ann, 'Hello');
    await setStatus(broken.id, 'invalid');
    await pause(paused.id);
    world.wakes.length = 0;
    const mended = await change(broken.id, { description: 'Mended.' });
    expect(mended).toMatchObject({ status: 'active' });
    expect(mended).not.toHaveProperty('lastError');
    expect(await change(paused.id, { description: 'Mended.' })).toMatchObject({ status: 'paused' });
    expect(world.wakes).toEqual([broken.id]);
  });

  test.each(['nobody', '', 'a\u0000b'])('there is no agent %j', async (id) => {
    const gone = { code: 'not_found' };
    await expect(getAgent(world.store.db, id)).rejects.toMatchObject(gone);
    await expect(change(id, {})).rejects.toMatchObject(gone);
    await expect(pause(id)).rejects.toMatchObject(gone);
    await expect(resume(id)).rejects.toMatchObject(gone);
  });

  test('agents are listed in pages, by status', async () => {
    const made = [await make(), await make(), await make()];
    for (const { id } of made) await setStatus(id, 'invalid');
    const first = await listAgents(world.store.db, { status: 'invalid', limit: 2 });
    const second = await listAgents(world.store.db, { status: 'invalid', limit: 2, cursor: first.next });
    expect([...first.items, ...second.items].map(({ id }) => id).toSorted()).toEqual(
      made.map(({ id }) => id).toSorted(),
    );
    expect(first.items[0]?.lastError).toBe('broken');
    expect(second.next).toBeUndefined();
  });
});
