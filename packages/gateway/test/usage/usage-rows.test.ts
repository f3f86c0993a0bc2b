import { expect, test } from 'vitest';
import { countLost } from '../../src/domain/usage/count-usage.ts';
import { foldUsage } from '../../src/domain/usage/fold-usage.ts';
import { spentOn } from '../../src/domain/usage/spent.ts';
import { usageReport } from '../../src/domain/usage/usage-report.ts';
import { dayOf } from '../../src/domain/usage/usage-row.ts';
import type { UsageRequestRow } from '../../src/ports/store/schema/tables.ts';
import { insertRun } from '../runs/rows.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

const DAY_MS = 86_400_000;

describeIdleWorld('counted requests', ({ world }) => {
  let count = 0;
  const insert = async (given: Partial<UsageRequestRow> & { agent_id: string }): Promise<string> => {
    const now = Date.now();
    const id = `request-${++count}-${given.agent_id}`;
    const row: UsageRequestRow = {
      id,
      run_id: `run of ${given.agent_id}`,
      entity_id: '',
      day: dayOf(now),
      model: 'm',
      kind: 'turn',
      currency: 'USD',
      requests: 1,
      input_tokens: 10,
      cached_tokens: 0,
      output_tokens: 5,
      cost: 2,
      unpriced: 0,
      estimated: 0,
      reserved: 0,
      created_at: now,
      ...given,
    };
    await world.in((tx) => tx.db.insertInto('usage_requests').values(row).execute());
    return id;
  };
  const rowOf = async (id: string) =>
    await world.store.db
      .selectFrom('usage_requests')
      .select(['reserved', 'estimated'])
      .where('id', '=', id)
      .executeTakeFirst();

  test('[K13] the report has no requests that are only reserved, and begins 29 days ago', async () => {
    const agentId = await world.agent('Bot');
    const now = Date.now();
    await insert({ agent_id: agentId });
    await insert({ agent_id: agentId, reserved: 1 });
    await insert({ agent_id: agentId, day: dayOf(now - 29 * DAY_MS) });
    await insert({ agent_id: agentId, day: dayOf(now - 30 * DAY_MS) });
    const { from, to, items } = await usageReport(world.store.db, { by: ['agent'], agentId, now });
    expect([from, to]).toEqual([dayOf(now - 29 * DAY_MS), dayOf(now)]);
    expect(items).toMatchObject([{ agent: agentId, requests: 2, inputTokens: 20, outputTokens: 10, cost: 4 }]);
  });

  test('[K12] a limit in money counts what was spent in its currency, and a limit in tokens everything', async () => {
    const agentId = await world.agent('Bot');
    await insert({ agent_id: agentId });
    await insert({ agent_id: agentId, currency: 'EUR', cost: 100 });
    await insert({ agent_id: agentId, reserved: 1, cost: 1 });
    const spent = (currency: string) =>
      spentOn(world.store.db, { scope: 'agent', id: agentId }, { day: dayOf(Date.now()), currency });
    expect(await spent('USD')).toEqual({ cost: 3, tokens: 45 });
    expect(await spent('EUR')).toEqual({ cost: 100, tokens: 45 });
  });

  test('[K12] only what was reserved counts as estimated when the worker of a run is lost', async () => {
    const agentId = await world.agent('Bot');
    const [known, lost] = [await insert({ agent_id: agentId }), await insert({ agent_id: agentId, reserved: 1 })];
    await world.in((tx) => countLost(tx, `run of ${agentId}`));
    expect(await rowOf(known)).toEqual({ reserved: 0, estimated: 0 });
    expect(await rowOf(lost)).toEqual({ reserved: 0, estimated: 1 });
  });

  test('[K12] a reservation of a running run is left alone, however old, and that of a run that ended is counted', async () => {
    const agentId = await world.agent('Bot');
    const old = { agent_id: agentId, reserved: 1 as const, created_at: Date.now() - 3_600_000 };
    const running = await world.in((tx) => insertRun(tx, { thread_id: agentId, status: 'running' }));
    const [open, ended] = [await insert({ ...old, run_id: running }), await insert(old)];
    await foldUsage(world.services);
    expect(await rowOf(open)).toEqual({ reserved: 1, estimated: 0 });
    expect(await rowOf(ended)).toBeUndefined();
    const { items } = await usageReport(world.store.db, { by: ['agent'], agentId, now: Date.now() });
    expect(items).toMatchObject([{ requests: 1, estimated: true }]);
    await world.in((tx) => tx.db.updateTable('runs').set({ status: 'completed' }).where('id', '=', running).execute());
  });
});
