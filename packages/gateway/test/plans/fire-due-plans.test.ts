import { type RawBuilder, sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { changePlan, type PlanChange } from '../../src/domain/plans/change-plan.ts';
import { fireDuePlans } from '../../src/domain/plans/fire-due-plans.ts';
import type { PlanInput } from '../../src/domain/plans/plan.ts';
import { listPlans, preparePlans, writePlans } from '../../src/domain/plans/plans.ts';
import type { AgentStatus } from '../../src/ports/store/schema/tables.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { onPostgres } from '../support/stores.ts';
import { watched } from '../support/watched-store.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;

describeIdleWorld({ title: 'plans that are due', limits: { inboxLength: 3 } }, ({ world }) => {
  /** An agent with one plan, as of NOW. */
  const planned = async (schedule: Partial<PlanInput>, status: AgentStatus = 'active') => {
    const agentId = await world.agent();
    await world.in((tx) => tx.db.updateTable('agents').set({ status }).where('id', '=', agentId).execute());
    const set = (now: number) =>
      world.in(async (tx) => {
        const plans = [{ key: 'k', name: 'Name', instruction: 'Do it.', ...schedule }];
        await writePlans(tx, agentId, await preparePlans(tx.db, agentId, plans, { now }));
      });
    await set(NOW);
    world.wakes.length = 0;
    return {
      agentId,
      set,
      fire: (now: number) => fireDuePlans(world.services, { agentId, now }),
      plan: async () => (await listPlans(world.store.db, agentId))[0],
      events: async () => (await world.inbox(agentId)).map(({ event }) => event),
    };
  };

  test('[G23] a plan fires when it is due, not before, and once', async () => {
    const { agentId, fire, plan } = await planned({ at: NOW + MINUTE });
    expect(await fire(NOW + MINUTE - 1)).toBe(0);
    expect(await world.inbox(agentId)).toEqual([]);
    expect(await fire(NOW + MINUTE)).toBe(1);
    expect(await fire(NOW + MINUTE)).toBe(0);
    const { id, ...kept } = (await plan()) ?? {};
    const event = { type: 'plan', planId: id, key: 'k', name: 'Name', instruction: 'Do it.', dueAt: NOW + MINUTE };
    expect(await world.inbox(agentId)).toEqual([{ eventId: `plan:${id}:${NOW + MINUTE}`, event }]);
    expect(kept).toMatchObject({ lastAt: NOW + MINUTE });
    expect(kept).not.toHaveProperty('nextAt');
    expect(world.wakes).toEqual([agentId]);
  });

  test("[G53] a plan stays due while the agent's limit of waiting events is reached", async () => {
    const agentId = await world.agent('Ada', { limits: { inboxLength: 1 } });
    const plans = ['a', 'b'].map((key) => ({ key, name: key, instruction: 'Do it.', at: NOW + MINUTE }));
    await world.in(async (tx) => writePlans(tx, agentId, await preparePlans(tx.db, agentId, plans, { now: NOW })));
    expect(await fireDuePlans(world.services, { agentId, now: NOW + MINUTE })).toBe(1);
    expect(await world.inbox(agentId)).toHaveLength(1);
  });

  test.each([
    ['a pattern', { cron: '*/10 * * * *', timeZone: 'Europe/Berlin' }],
    ['a time', { at: NOW + 10 * MINUTE }],
  ])(
    '[G23] [O6] %s that is late still fires for the time that was missed if only its words change',
    async (_, schedule) => {
      const { agentId, fire, plan, events } = await planned(schedule);
      const before = await plan();
      const change = async (fields: PlanChange) => {
        const stored = await plan();
        if (stored !== undefined) await world.in((tx) => changePlan(tx, { agentId, plan: stored }, fields));
      };
      await change({ name: 'Other' });
      expect(await plan()).toEqual({ ...before, name: 'Other', setBy: 'operator', updatedAt: expect.any(Number) });
      expect(await fire(NOW + 15 * MINUTE)).toBe(1);
      expect(await events()).toMatchObject([
        { name: 'Other', instruction: 'Do it.', dueAt: NOW + 10 * MINUTE, late: true },
      ]);
      // It fires again only at its next time, if it has one.
      const after = await plan();
      await change({ instruction: 'Do more.' });
      expect(await plan()).toEqual({ ...after, instruction: 'Do more.', updatedAt: expect.any(Number) });
      expect(await fire(NOW + 15 * MINUTE)).toBe(0);
    },
  );

  test('[G23] a pattern fires repeatedly', async () => {
    const { fire, events, plan } = await planned({ cron: '*/10 * * * *' });
    expect(await fire(NOW + 10 * MINUTE)).toBe(1);
    expect(await fire(NOW + 10 * MINUTE)).toBe(0);
    expect(await plan()).toMatchObject({ lastAt: NOW + 10 * MINUTE, nextAt: NOW + 20 * MINUTE });
    expect(await fire(NOW + 20 * MINUTE)).toBe(1);
    expect(await events()).toMatchObject([{ dueAt: NOW + 10 * MINUTE }, { dueAt: NOW + 20 * MINUTE }]);
  });

  test('[G23] a plan set again for the same instant does not fire again', async () => {
    const { fire, set, events } = await planned({ at: NOW + 1 });
    expect(await fire(NOW + 1)).toBe(1);
    await set(NOW + 2);
    expect(await fire(NOW + 2)).toBe(0);
    expect(await events()).toHaveLength(1);
  });

  test('[G23] after downtime a plan fires once for all missed times, and says that it is late', async () => {
    const { fire, events, plan } = await planned({ cron: '* * * * *' });
    expect(await fire(NOW + 10.5 * MINUTE)).toBe(1);
    expect(await events()).toMatchObject([{ dueAt: NOW + MINUTE, late: true }]);
    expect((await plan())?.nextAt).toBe(NOW + 11 * MINUTE);
    expect(await fire(NOW + 10.9 * MINUTE)).toBe(0);
  });

  test('[G23] a plan that fires a moment after its time is not late', async () => {
    const { fire, events } = await planned({ at: NOW + 1 });
    await fire(NOW + 1 + MINUTE);
    expect((await events())[0]).not.toHaveProperty('late');
    const other = await planned({ at: NOW + 1 });
    await other.fire(NOW + 2 + MINUTE);
    expect(await other.events()).toMatchObject([{ late: true }]);
  });

  test('[G23] with misfire "skip" a missed time does not fire', async () => {
    const daily = await planned({ cron: '0 13 * * *', misfire: 'skip' });
    expect(await daily.fire(NOW + 61 * MINUTE + 1)).toBe(0);
    expect(await daily.events()).toEqual([]);
    const kept = await daily.plan();
    expect(kept?.nextAt).toBe(NOW + (24 + 1) * 60 * MINUTE);
    expect(kept).not.toHaveProperty('lastAt');
    expect(await daily.fire(NOW + (24 + 1) * 60 * MINUTE)).toBe(1);
    const once = await planned({ at: NOW + 1, misfire: 'skip' });
    expect(await once.fire(NOW + 2 + MINUTE)).toBe(0);
    expect(await once.plan()).not.toHaveProperty('nextAt');
    const barely = await planned({ at: NOW + 1, misfire: 'skip' });
    expect(await barely.fire(NOW + 1 + MINUTE)).toBe(1);
  });

  test('[G23] with misfire "skip" the current time fires, also after missed ones', async () => {
    const { fire, events } = await planned({ cron: '*/5 * * * *', misfire: 'skip' });
    expect(await fire(NOW + 10 * MINUTE + 1)).toBe(1);
    expect(await events()).toEqual([expect.objectContaining({ dueAt: NOW + 10 * MINUTE })]);
    expect((await events())[0]).not.toHaveProperty('late');
  });

  test('[G23] nine in the morning stays nine in the morning when the clock changes', async () => {
    const { fire, events, set } = await planned({ cron: '0 9 * * *', timeZone: 'Europe/Berlin' });
    await set(Date.parse('2026-03-28T07:00:00Z'));
    const at = ['2026-03-28T08:00:00Z', '2026-03-29T07:00:00Z', '2026-03-30T07:00:00Z'].map(Date.parse);
    for (const now of at) expect(await fire(now)).toBe(1);
    expect((await events()).map((event) => (event.type === 'plan' ? event.dueAt : 0))).toEqual(at);
  });

  test.each(['paused', 'invalid'] as const)(
    '[G16] plans of an agent that is %s wait, and fire late',
    async (status) => {
      const { agentId, fire, events } = await planned({ at: NOW + 1 }, status);
      expect(await fire(NOW + 1)).toBe(0);
      expect(await events()).toEqual([]);
      await world.in((tx) => tx.db.updateTable('agents').set({ status: 'active' }).where('id', '=', agentId).execute());
      expect(await fire(NOW + 5 * MINUTE)).toBe(1);
      expect(await events()).toMatchObject([{ late: true }]);
    },
  );

  test('[G17] plans of a deleted agent never fire', async () => {
    const { fire } = await planned({ at: NOW + 1 }, 'deleted');
    expect(await fire(NOW + 1)).toBe(0);
  });

  test('[G53] a plan does not fire while the inbox is full, and fires once there is room', async () => {
    const { agentId, fire, events } = await planned({ cron: '* * * * *' });
    for (const minutes of [1, 2, 3]) expect(await fire(NOW + minutes * MINUTE)).toBe(1);
    expect(await fire(NOW + 4 * MINUTE)).toBe(0);
    await world.in((tx) =>
      tx.db.updateTable('inbox_events').set({ status: 'done' }).where('thread_id', '=', agentId).execute(),
    );
    expect(await fire(NOW + 6 * MINUTE)).toBe(1);
    expect((await events()).at(-1)).toMatchObject({ dueAt: NOW + 4 * MINUTE, late: true });
  });

  test('a schedule that cannot be read any more ends its plan, and no other', async () => {
    const broken = await planned({ cron: '0 13 * * *' });
    const other = await planned({ at: NOW + 1 });
    await world.in((tx) =>
      tx.db.updateTable('plans').set({ time_zone: 'Gone/Zone' }).where('agent_id', '=', broken.agentId).execute(),
    );
    await fireDuePlans(world.services, { now: NOW + 60 * MINUTE });
    expect(await broken.events()).toHaveLength(1);
    expect(await broken.plan()).not.toHaveProperty('nextAt');
    expect(await other.events()).toHaveLength(1);
  });

  test('[G23] a plan whose row is damaged does not keep the plans of others from firing', async () => {
    const broken = await planned({ at: NOW });
    const other = await planned({ at: NOW + 1 });
    const write = (name: string) =>
      world.in((tx) => tx.db.updateTable('plans').set({ name }).where('agent_id', '=', broken.agentId).execute());
    await write('"A na');
    await fireDuePlans(world.services, { now: NOW + MINUTE });
    expect(await other.events()).toHaveLength(1);
    expect(world.logs.at(-1)?.message).toMatch(/^Plan \S+ could not be fired, and is tried again: .* in JSON/);
    await write('"A name"');
    await fireDuePlans(world.services, { now: NOW + MINUTE });
    expect(await broken.events()).toHaveLength(1);
  });

  test.each([
    ['whose row is damaged', { isRefused: false }],
    ['that the database refuses to fire', { isRefused: true }],
  ])('[G23] a plan %s is logged once an hour, although it is tried at each sweep', async (_, { isRefused }) => {
    const broken = await planned({ at: NOW });
    const { agentId } = broken;
    const id = (await broken.plan())?.id ?? '';
    const write = (name: string) =>
      world.in((tx) => tx.db.updateTable('plans').set({ name }).where('agent_id', '=', agentId).execute());
    const linesAfter = async (sweeps: number) => {
      for (let sweep = 0; sweep < sweeps; sweep++) await fireDuePlans(world.services, { now: NOW + MINUTE });
      return world.logs.filter(({ message }) => message.includes(id)).length;
    };
    if (!isRefused) await write('"A na');
    const repair = isRefused ? await refuseEvents(world.store, agentId) : () => write('"A name"');
    expect(await linesAfter(5)).toBe(1);
    const { now } = performance;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 3_600_000);
    expect(await linesAfter(5)).toBe(2);
    clock.mockRestore();
    await repair();
    expect(await linesAfter(1)).toBe(2);
    expect(await broken.events()).toHaveLength(1);
  });

  test('[G23] a plan that the database refuses to fire does not keep the plans of others from firing', async () => {
    const refused = await planned({ at: NOW });
    const other = await planned({ at: NOW + 1 });
    const drop = await refuseEvents(world.store, refused.agentId);
    await fireDuePlans(world.services, { now: NOW + MINUTE });
    expect(await other.events()).toHaveLength(1);
    expect(world.logs.at(-1)?.message).toMatch(
      /^Plan \S+ could not be fired, and is tried again: .*refused for the test/,
    );
    await drop();
    await fireDuePlans(world.services, { now: NOW + MINUTE });
    expect(await refused.events()).toHaveLength(1);
  });

  test('many plans of many agents fire in one sweep, each once, in few transactions', async () => {
    await fireDuePlans(world.services, { now: NOW + 120 * MINUTE });
    const agents = await Promise.all(
      Array.from({ length: 3 }, () => world.agent('Ada', { limits: { maxPlans: 1_000 } })),
    );
    const full = world.with({ inboxLength: 1_000 }).services;
    for (const agentId of agents)
      await world.in(async (tx) => {
        const plans = Array.from({ length: 90 }, (_, index) => ({
          name: `n${index}`,
          instruction: 'i',
          at: NOW + (index % 7),
        }));
        await writePlans(tx, agentId, await preparePlans(tx.db, agentId, plans, { now: NOW }));
      });
    const counted = watched(full.store, 0, 'before', () => {});
    expect(await fireDuePlans({ ...full, store: counted.store }, { now: NOW + 7 })).toBe(270);
    // One for each page of plans: with one for each plan, thousands that are due together take a minute.
    expect(counted.count()).toBeLessThanOrEqual(2);
    expect(await fireDuePlans(full, { now: NOW + 7 })).toBe(0);
    for (const agentId of agents) expect(await world.inbox(agentId)).toHaveLength(90);
  });
});

describeIdleWorld({ title: 'plans that are due with two gateways', on: [onPostgres] }, ({ world, beside }) => {
  const other = beside();
  test('[G23] a due plan fires once, whichever gateway is first', async () => {
    const gateways = [world.services, other.services];
    const agentId = await world.agent();
    const plans = Array.from({ length: 20 }, (_, index) => ({
      name: `n${index}`,
      instruction: 'i',
      cron: '* * * * *',
    }));
    await world.in(async (tx) => writePlans(tx, agentId, await preparePlans(tx.db, agentId, plans, { now: NOW })));
    const looks = Array.from({ length: 6 }, (_, index) =>
      fireDuePlans(gateways[index % 2] ?? world.services, { now: NOW + MINUTE }),
    );
    const fired = await Promise.all(looks);
    expect(fired.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(await world.inbox(agentId)).toHaveLength(20);
  });
});

/** Lets the database refuse all events of one agent. Returns what lets it accept them again. */
async function refuseEvents({ dialect, transaction }: Store, agentId: string): Promise<() => Promise<unknown>> {
  const id = sql.lit(agentId);
  const run = (...statements: readonly RawBuilder<unknown>[]) =>
    transaction(async ({ db }) => {
      for (const one of statements) await one.execute(db);
    });
  if (dialect === 'sqlite') {
    await run(sql`create trigger refusing before insert on inbox_events when new.thread_id = ${id}
      begin select raise(abort, 'refused for the test'); end`);
    return () => run(sql`drop trigger refusing`);
  }
  await run(
    sql`create function refuse() returns trigger language plpgsql as
      $$ begin if new.thread_id = ${id} then raise 'refused for the test'; end if; return new; end $$`,
    sql`create trigger refusing before insert on inbox_events for each row execute function refuse()`,
  );
  return () => run(sql`drop trigger refusing on inbox_events`, sql`drop function refuse`);
}
