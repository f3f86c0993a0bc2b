import { expect, test } from 'vitest';
import { pauseAgent } from '../../src/domain/agents/pause-agent.ts';
import { listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { fireDuePlans } from '../../src/domain/plans/fire-due-plans.ts';
import { listPlans, setPlans } from '../../src/domain/plans/plans.ts';
import { postMessage } from '../../src/domain/spaces/post-message.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import { overlap } from '../spaces/overlap.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import type { World } from '../support/world.ts';

type Hold = () => Promise<void>;

describeIdleWorld({ title: 'events that come at the same moment', on: overlapping }, ({ world, database, beside }) => {
  const other = beside();

  const waitingFor = async (agentId: string) =>
    (await listInbox(world.store.db, { agentId, status: 'pending' })).items.length;
  const push = (agentId: string) => (tx: Tx) => pushServiceEvent(tx, { agentId, source: 's', name: 'n' });
  const say =
    ({ services }: World, spaceId: string, entityId: string) =>
    (tx: Tx) =>
      postMessage(services, tx, { spaceId, entityId, text: 'Hi' });
  const heldOpen = (work: (tx: Tx) => Promise<unknown>) => (hold: Hold) =>
    world.in(async (tx) => {
      await work(tx);
      await hold();
    });

  /** An agent with room for one event, and two spaces in which a person can write to it. */
  const small = async () => {
    const [ann, bot] = [await world.person(), await world.agent('Bot', { limits: { inboxLength: 1 } })];
    return { ann, bot, one: await world.space('Space', [ann, bot]), two: await world.space('Space', [ann, bot]) };
  };
  const refused = { status: 'rejected', reason: { code: 'inbox_full' } };

  test('[G53] of two services that push into the last place of an inbox one is refused', async () => {
    const { bot } = await small();
    const [, second] = await overlap(other.store, heldOpen(push(bot)), () => other.in(push(bot)));
    expect(second).toMatchObject(refused);
    expect(await waitingFor(bot)).toBe(1);
  });

  test('[G53] of two messages in different spaces into the last place of an inbox one is refused', async () => {
    const { ann, bot, one, two } = await small();
    const [, second] = await overlap(other.store, heldOpen(say(world, one, ann)), () => other.in(say(other, two, ann)));
    expect(second).toMatchObject(refused);
    expect(await waitingFor(bot)).toBe(1);
  });

  test('[G53] a message and a service push into the last place of an inbox, and one is refused', async () => {
    const { ann, bot, one } = await small();
    const [, second] = await overlap(other.store, heldOpen(push(bot)), () => other.in(say(other, one, ann)));
    expect(second).toMatchObject(refused);
    expect(await waitingFor(bot)).toBe(1);
  });

  test('[G53] a plan that is due while the last place of the inbox is taken stays due', async () => {
    const { bot } = await small();
    const plan = { key: 'k', name: 'n', instruction: 'i', at: Date.now() + 60_000 };
    await world.in((tx) => setPlans(tx, bot, [plan]));
    const fire = () => fireDuePlans(other.services, { agentId: bot, now: plan.at });
    const [, fired] = await overlap(other.store, heldOpen(push(bot)), fire);
    expect(fired).toEqual({ status: 'fulfilled', value: 0 });
    expect(await waitingFor(bot)).toBe(1);
    await world.in((tx) => tx.db.deleteFrom('inbox_events').where('thread_id', '=', bot).execute());
    expect(await fire()).toBe(1);
  });

  test('[G16] [G23] a plan does not fire after its agent was paused, even if it was found due before', async () => {
    const [first, second] = [await world.agent(), await world.agent()];
    const at = Date.now() + 120_000;
    for (const [index, id] of [first, second].entries()) {
      const plan = { key: 'k', name: 'n', instruction: 'i', at: at + index, misfire: 'skip' as const };
      await world.in((tx) => setPlans(tx, id, [plan]));
    }
    const [plan] = await listPlans(world.store.db, first);
    // Another transaction inserts the event of the first plan, which blocks the second one.
    const held = await holdLock(
      database,
      `insert into inbox_events (thread_id, event_id, type, priority, payload, status, available_at, created_at)
       values ($1, $2, 'plan', 1, '{}', 'pending', 0, 0)`,
      [first, `plan:${plan?.id}:${at}`],
    );
    const firing = fireDuePlans(world.services, { now: at + 1 });
    await held.waitedFor();
    await other.in((tx) => pauseAgent(tx, second));
    await held.release();
    await firing;
    expect([await waitingFor(first), await waitingFor(second)]).toEqual([1, 0]);
  });
});
