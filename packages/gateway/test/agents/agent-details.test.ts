import { expect, test } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { getAgent } from '../../src/domain/agents/agent.ts';
import { describeAgent } from '../../src/domain/agents/agent-details.ts';
import { listVersions } from '../../src/domain/agents/agent-versions.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { seed } from '../../src/start/seed.ts';
import { insertPlan, insertRun } from '../runs/rows.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('the details of agents', ({ world }) => {
  const details = async (id: string) => await describeAgent(world.store.db, await getAgent(world.store.db, id));

  test('the details of an agent say what it is doing, what waits for it, and when it wakes by itself', async () => {
    const [bot, other] = [await world.agent(), await world.agent()];
    expect(await details(bot)).toMatchObject({ source: 'api', inbox: { pending: 0, dead: 0, withheld: 0 } });
    const runId = await world.in((tx) => insertRun(tx, { thread_id: bot, created_at: 7 }));
    await world.in(async (tx) => {
      await insertRun(tx, { thread_id: other, status: 'completed' });
      await insertPlan(tx, { agent_id: bot, key: 'later', next_at: 900 });
      await insertPlan(tx, { agent_id: bot, key: 'sooner', next_at: 800 });
      await insertPlan(tx, { agent_id: bot, key: 'over', next_at: null });
      for (const name of ['a', 'b', 'c'])
        await pushServiceEvent(tx, { agentId: bot, source: 'test', name, eventId: name });
      await tx.db.updateTable('inbox_events').set({ status: 'dead' }).where('event_id', '=', 'c').execute();
    });
    expect(await details(bot)).toMatchObject({
      running: { runId, since: 7 },
      inbox: { pending: 2, dead: 1, withheld: 0 },
      nextPlanAt: 800,
    });
    expect(await details(other)).not.toHaveProperty('running');
  });

  test('an agent of the configuration file says so', async () => {
    await seed(world.services, checkConfig({ agents: [{ name: 'Filed', instructions: '' }] }));
    const filed = await world.store.db.selectFrom('agents').select('id').where('name', '=', 'Filed').executeTakeFirst();
    expect(await details(filed?.id ?? '')).toMatchObject({ source: 'file' });
  });

  test('a change based on another version is refused, and every version is kept', async () => {
    const bot = await world.agent();
    const change = (instructions: string, ifVersion?: number) =>
      world.in((tx) => updateAgent(tx, { agentId: bot, config: { instructions }, ifVersion }));
    const results = await Promise.allSettled([change('one', 1), change('two', 1)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason).toMatchObject({
      code: 'version_conflict',
      details: { configVersion: 2 },
    });
    expect((await details(bot)).configVersion).toBe(2);
    await change('three', 2);
    await change('four');
    expect((await details(bot)).config.instructions).toBe('four');
    const { items } = await listVersions(world.store.db, bot);
    expect(items.map(({ version, config }) => [version, config.instructions])).toEqual([
      [4, 'four'],
      [3, 'three'],
      [2, expect.stringMatching(/^(one|two)$/)],
      [1, ''],
    ]);
    expect((await listVersions(world.store.db, bot, { limit: 1, cursor: '3' })).items).toMatchObject([{ version: 2 }]);
  });
});
