import { dispatchCall } from '@lastcall/core';
import { expect, test } from 'vitest';
import { listGoals } from '../../src/domain/memory/goals.ts';
import { goalTools } from '../../src/runtime/tools/goal-tools.ts';
import { activeRunOf } from '../support/active-run-of.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('the tools of goals', ({ world }) => {
  const start = async (limits: object = {}) => {
    const agentId = await world.agent('Ada', { limits });
    const { run, staged, settle } = activeRunOf(world.services, agentId);
    const tools = goalTools(() => run);
    return {
      agentId,
      staged,
      settle,
      call: async (toolName: string, input: object) =>
        (await dispatchCall({ tools, call: { toolName, input } })).outcome,
      keys: async () => (await listGoals(world.store.db, agentId)).map(({ key }) => key),
    };
  };

  test('[G22] set_goals returns the keys, and writes when the call is settled', async () => {
    const { call, settle, keys } = await start();
    const outcome = await call('set_goals', {
      goals: [{ description: 'Find a flat' }, { key: 'b', description: 'b' }],
    });
    expect(outcome).toMatchObject({ status: 'ok', value: { keys: ['find-a-flat', 'b'] } });
    expect(await keys()).toEqual([]);
    await settle();
    expect((await keys()).sort()).toEqual(['b', 'find-a-flat']);
  });

  test('settling twice, as after a lost answer of the database, is the same as once', async () => {
    const { call, staged, settle, keys } = await start();
    await call('set_goals', { goals: [{ description: 'Find a flat' }] });
    staged.push(...staged);
    await settle();
    expect(await keys()).toEqual(['find-a-flat']);
  });

  test('[G22] delete_goals deletes all or nothing, and says which key does not exist', async () => {
    const { call, settle, staged, keys } = await start();
    await call('set_goals', {
      goals: [
        { key: 'a', description: 'a' },
        { key: 'b', description: 'b' },
      ],
    });
    await settle();
    const refused = await call('delete_goals', { keys: ['a', 'nope'] });
    expect(refused).toMatchObject({ status: 'error', text: expect.stringContaining('There is no goal "nope"') });
    expect(staged).toEqual([]);
    expect(await call('delete_goals', { keys: ['a'] })).toMatchObject({ status: 'ok', value: { deleted: ['a'] } });
    await settle();
    expect(await keys()).toEqual(['b']);
  });

  test('[G22] over the limit the call fails with a clear text and stages nothing', async () => {
    const { call, staged } = await start({ maxGoals: 1 });
    const outcome = await call('set_goals', { goals: [{ description: 'a' }, { description: 'b' }] });
    expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('The limit is 1 goals') });
    expect(staged).toEqual([]);
  });

  test.each([
    ['no goals', { goals: [] }],
    ['too many at once', { goals: Array.from({ length: 101 }, () => ({ description: 'x' })) }],
    ['no description', { goals: [{ key: 'k' }] }],
    ['a field of its own', { goals: [{ description: 'x', space: 's' }] }],
  ])('%s is refused as input', async (_what, input) => {
    const { call, staged } = await start();
    expect(await call('set_goals', input)).toMatchObject({ status: 'error', code: 'invalid_input' });
    expect(staged).toEqual([]);
  });
});
