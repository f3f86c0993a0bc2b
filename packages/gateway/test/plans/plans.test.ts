import { dispatchCall } from '@lastcall/core';
import { expect, test } from 'vitest';
import { DEFAULT_AGENT_LIMITS } from '../../src/config/agent-limits.ts';
import { fireDuePlans } from '../../src/domain/plans/fire-due-plans.ts';
import type { PlanInput } from '../../src/domain/plans/plan.ts';
import {
  deletePlans,
  listPlans,
  preparePlans,
  removeOwnPlans,
  setPlans,
  writePlans,
} from '../../src/domain/plans/plans.ts';
import { planTools } from '../../src/runtime/tools/plan-tools.ts';
import { activeRunOf } from '../support/active-run-of.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const plan = (key: string, schedule: Partial<PlanInput> = { after: 'PT1H' }): PlanInput => ({
  key,
  name: `Plan ${key}`,
  instruction: `Do ${key}.`,
  ...schedule,
});

describeIdleWorld('plans', ({ world }) => {
  const set = (agentId: string, plans: readonly PlanInput[]) => world.in((tx) => setPlans(tx, agentId, plans));
  const setAt = (agentId: string, plans: readonly PlanInput[], now = NOW) =>
    world.in(async (tx) => writePlans(tx, agentId, await preparePlans(tx.db, agentId, plans, { now })));
  const remove = (agentId: string, keys: readonly string[]) => world.in((tx) => deletePlans(tx, agentId, keys));
  const list = (agentId: string) => listPlans(world.store.db, agentId);
  const keys = async (agentId: string) => (await list(agentId)).map(({ key }) => key);

  test('[G23] a plan is stored with its next due time', async () => {
    const agent = await world.agent();
    await setAt(agent, [
      plan('cron', { cron: '0 9 * * *', timeZone: 'Europe/Berlin', misfire: 'skip' }),
      plan('at', { at: '2026-01-03T00:00:00Z' }),
      plan('after', { after: 'PT1H' }),
    ]);
    const [after, cron, at] = await list(agent);
    expect(after).toMatchObject({ key: 'after', at: NOW + 3_600_000, nextAt: NOW + 3_600_000, misfire: 'once' });
    expect(cron).toMatchObject({ key: 'cron', cron: '0 9 * * *', timeZone: 'Europe/Berlin', misfire: 'skip' });
    expect(cron?.nextAt).toBe(Date.parse('2026-01-02T08:00:00Z'));
    expect(at).toMatchObject({ name: 'Plan at', instruction: 'Do at.', at: Date.parse('2026-01-03T00:00:00Z') });
  });

  test('a plan with a known key is overwritten, with its schedule, and keeps its id', async () => {
    const agent = await world.agent();
    await setAt(agent, [plan('k', { cron: '0 9 * * *' })]);
    const [before] = await list(agent);
    await setAt(agent, [plan('k', { after: 'PT2H' })]);
    const plans = await list(agent);
    expect(plans).toMatchObject([{ id: before?.id, key: 'k', nextAt: NOW + 7_200_000 }]);
    expect(plans[0]).not.toHaveProperty('cron');
  });

  test('[G23] one plan that cannot be read refuses all of them', async () => {
    const agent = await world.agent();
    await expect(set(agent, [plan('fine'), plan('wrong', { cron: 'sometimes' })])).rejects.toMatchObject({
      code: 'invalid_schedule',
      message: expect.stringMatching(
        /^The plan's cron "sometimes" .+ This is plan "wrong"\. None of the 2 plans was set\.$/,
      ),
      details: { path: 'cron' },
    });
    await expect(set(agent, [{ ...plan('wrong'), when: 'x' } as PlanInput])).rejects.toMatchObject({
      details: { path: 'plans[0].when' },
    });
    await expect(set(agent, [{ ...plan('k'), misfire: 'twice' as 'once' }])).rejects.toMatchObject({
      details: { path: 'plans[0].misfire' },
    });
    expect(await keys(agent)).toEqual([]);
  });

  test('[O6] what the call of an agent has checked neither replaces nor deletes a plan that an operator sets meanwhile', async () => {
    const agent = await world.agent();
    const prepared = await preparePlans(world.store.db, agent, [plan('k'), plan('own')], { now: NOW });
    await world.in((tx) => setPlans(tx, agent, [plan('k', { after: 'P1D' })], { setter: 'operator' }));
    await world.in((tx) => writePlans(tx, agent, prepared));
    const [before] = (await list(agent)).filter(({ key }) => key === 'k');
    expect(before).toMatchObject({ setBy: 'operator' });
    expect(before?.nextAt).toBeGreaterThan(Date.now());
    await world.in((tx) => removeOwnPlans(tx, agent, ['k', 'own']));
    expect(await list(agent)).toEqual([before]);
  });

  test('[G22] counts and sizes have limits', async () => {
    const agent = await world.agent('Ada', { limits: { maxPlans: 2, noteLength: 10 } });
    await set(agent, [plan('a'), plan('b')]);
    await expect(set(agent, [plan('c')])).rejects.toMatchObject({ code: 'too_many' });
    await set(agent, [plan('b')]);
    const long = { ...plan('a'), instruction: 'x'.repeat(11) };
    await expect(set(agent, [long])).rejects.toMatchObject({ code: 'too_large' });
    expect((await keys(agent)).sort()).toEqual(['a', 'b']);
  });

  test('[G22] plans that are over make room for new ones, the oldest first', async () => {
    const agent = await world.agent('Ada', { limits: { maxPlans: 2 } });
    await setAt(agent, [plan('a', { at: NOW + 2 }), plan('b', { at: NOW + 1 })]);
    await fireDuePlans(world.services, { agentId: agent, now: NOW + 10 });
    expect((await list(agent)).map(({ nextAt }) => nextAt)).toEqual([undefined, undefined]);
    await setAt(agent, [plan('c')]);
    expect(await keys(agent)).toEqual(['c', 'a']);
    await setAt(agent, [plan('a')]);
    expect((await keys(agent)).sort()).toEqual(['a', 'c']);
    await expect(setAt(agent, [plan('b')])).rejects.toMatchObject({ code: 'too_many' });
  });

  test('[G22] of plans that are over, the one that fired first makes room, whichever was set first', async () => {
    const agent = await world.agent('Ada', { limits: { maxPlans: 2 } });
    await setAt(agent, [plan('late', { at: NOW + 2_000 })], NOW);
    await setAt(agent, [plan('early', { at: NOW + 1_000 })], NOW + 500);
    await fireDuePlans(world.services, { agentId: agent, now: NOW + 1_500 });
    await fireDuePlans(world.services, { agentId: agent, now: NOW + 2_500 });
    await setAt(agent, [plan('new')], NOW + 3_000);
    expect((await keys(agent)).sort()).toEqual(['late', 'new']);
  });

  test("[G22] plans that are over are kept up to the gateway's limit for its agents", async () => {
    const agentId = await world.agent();
    const over = Array.from({ length: DEFAULT_AGENT_LIMITS.maxPlans }, (_, index) =>
      plan(`over-${index}`, { at: NOW + 1 }),
    );
    await setAt(agentId, over);
    await fireDuePlans(world.services, { agentId, now: NOW + 10 });
    const setUnder = async (maxPlans: number, key: string) => {
      const { run, settle } = activeRunOf(world.services, agentId);
      const agent = { ...run.agent, limits: { ...DEFAULT_AGENT_LIMITS, maxPlans } };
      const tools = planTools(() => ({ ...run, agent }));
      await dispatchCall({ tools, call: { toolName: 'set_plans', input: { plans: [plan(key)] } } });
      await settle();
      return (await keys(agentId)).length;
    };
    expect(await setUnder(100, 'more')).toBe(over.length + 1);
    expect(await setUnder(3, 'fewer')).toBe(3);
  });

  test("[G22] another agent's plan is not found, and nothing of the batch is deleted", async () => {
    const [agent, other] = [await world.agent(), await world.agent()];
    await set(agent, [plan('a')]);
    await set(other, [plan('theirs')]);
    await expect(remove(agent, ['a', 'theirs'])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('There is no plan "theirs"'),
    });
    expect(await keys(agent)).toEqual(['a']);
    await remove(agent, ['a']);
    expect(await keys(agent)).toEqual([]);
    expect(await keys(other)).toEqual(['theirs']);
  });

  test('[G22] the tools set, read and delete plans by keys, and write when the call is settled', async () => {
    const agentId = await world.agent();
    const { run, staged, settle } = activeRunOf(world.services, agentId);
    const tools = planTools(() => run);
    const call = async (toolName: string, input: object) =>
      (await dispatchCall({ tools, call: { toolName, input } })).outcome;
    const plans = [{ name: 'Morning report', instruction: 'Report.', cron: '0 9 * * *', timeZone: 'Europe/Berlin' }];
    const nextAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT0[78]:00:00.000Z$/);
    expect(await call('set_plans', { plans })).toMatchObject({
      status: 'ok',
      value: { plans: [{ key: 'morning-report', nextAt }] },
    });
    expect(await call('get_plans', {})).toMatchObject({ value: { plans: [] } });
    await settle();
    expect(await call('get_plans', {})).toMatchObject({
      value: { plans: [{ ...plans[0], key: 'morning-report', misfire: 'once', nextAt, lastAt: null }] },
    });
    expect(await call('set_plans', { plans: [{ name: 'n', instruction: 'i' }] })).toMatchObject({
      status: 'error',
      text: expect.stringContaining('exactly one of cron, at and after'),
    });
    expect(await call('delete_plans', { keys: ['evening'] })).toMatchObject({ status: 'error' });
    expect(staged).toEqual([]);
    expect(await call('delete_plans', { keys: ['morning-report'] })).toMatchObject({ status: 'ok' });
    await settle();
    expect(await keys(agentId)).toEqual([]);
  });
});
