import { expect, test } from 'vitest';
import { getAgent, listAgents } from '../../src/domain/agents/agent.ts';
import { deleteAgent } from '../../src/domain/agents/delete-agent.ts';
import { getEntity } from '../../src/domain/entities/entity.ts';
import { listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { getRun } from '../../src/domain/runs/run.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { addMember, listMembers, removeMember } from '../../src/domain/spaces/membership.ts';
import { postMessage } from '../../src/domain/spaces/post-message.ts';
import { openCard } from '../../src/domain/spaces/tool-card.ts';
import { claimThread, fenced } from '../../src/runtime/lease/lease.ts';
import { insertPendingCall, insertPlan, insertRun } from '../runs/rows.ts';
import { overlap } from '../spaces/overlap.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import type { World } from '../support/world.ts';

describeIdleWorld('deleting an agent', ({ world, kind, beside }) => {
  const other = beside();

  const remove = (agentId: string, at: World = world) => at.in((tx) => deleteAgent(tx, agentId));
  const statusesOf = async (agentId: string) =>
    (await listInbox(world.store.db, { agentId })).items.map(({ status }) => status);

  test('[G17] its messages stay, with a deleted author', async () => {
    const [ann, bot] = [await world.person(), await world.agent('Bot')];
    const space = await world.space('Space', [ann, bot]);
    const said = await world.post(space, bot, 'I was here');
    await remove(bot);
    expect((await listMessages(world.store.db, { spaceId: space })).items).toEqual([said]);
    expect(await getEntity(world.store.db, bot)).toMatchObject({
      displayName: 'Bot',
      deletedAt: expect.any(Number),
    });
  });

  test('[G17] it cannot be found any more, and cannot be deleted twice', async () => {
    const bot = await world.agent();
    await remove(bot);
    await expect(getAgent(world.store.db, bot)).rejects.toMatchObject({ code: 'not_found' });
    await expect(remove(bot)).rejects.toMatchObject({ code: 'not_found' });
    const ids = async (status?: 'deleted') =>
      (await listAgents(world.store.db, { status, limit: 200 })).items.map(({ id }) => id);
    expect(await ids()).not.toContain(bot);
    expect(await ids('deleted')).toContain(bot);
  });

  test('[G17] it leaves its spaces, whose streams get an event', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const spaces = [await world.space('Space', [ann, bot]), await world.space('Space', [ann, bot])];
    await remove(bot);
    for (const id of spaces) {
      expect((await listMembers(world.store.db, { spaceId: id })).items).toMatchObject([{ entityId: ann }]);
      expect(world.heard(id).at(-1)).toBe('member.left');
    }
  });

  test('[G17] its open calls are cancelled with their cards, and ended ones are unchanged', async () => {
    const bot = await world.agent();
    const space = await world.space('Space', [bot]);
    const card = { spaceId: space, entityId: bot, runId: 'r', toolName: 'confirm', input: {} };
    const calls = { waits: `${bot}-1`, approved: `${bot}-2`, ended: `${bot}-3` };
    await world.in(async (tx) => {
      await openCard(tx, { ...card, callId: calls.waits, status: 'requires_action' });
      // Approved: it is no longer pending, and did not run yet.
      await openCard(tx, { ...card, callId: calls.approved, status: 'running' });
      await insertPendingCall(tx, { id: calls.waits, agent_id: bot, space_id: space });
      await insertPendingCall(tx, { id: calls.ended, agent_id: bot, wait_status: 'resolved' });
    });
    await remove(bot);
    const rows = await world.store.db
      .selectFrom('calls')
      .select('wait_status')
      .where('agent_id', '=', bot)
      .orderBy('id')
      .execute();
    expect(rows.map(({ wait_status }) => wait_status)).toEqual(['cancelled', 'resolved']);
    const { items } = await listMessages(world.store.db, { spaceId: space });
    expect(items.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(world.heard(space).filter((type) => type === 'tool-call.cancelled')).toHaveLength(2);
  });

  test('[G17] a call that waited and has ended keeps its outcome', async () => {
    const bot = await world.agent();
    const ended = {
      status: 'settled',
      wait_status: 'resolved',
      outcome: '"done"',
      outcome_status: 'ok',
      settled_at: 2,
    } as const;
    await world.in((tx) => insertPendingCall(tx, { id: bot, agent_id: bot, ...ended }));
    await remove(bot);
    const call = world.store.db.selectFrom('calls').select(['status', 'outcome', 'outcome_status', 'settled_at']);
    const { wait_status: _, ...kept } = ended;
    expect(await call.where('id', '=', bot).executeTakeFirst()).toEqual(kept);
  });

  test('[G17] a call that waited is settled as cancelled, and so is a question that one of its tools asked during its call', async () => {
    const bot = await world.agent();
    const [asking, question] = [`${bot}-1`, `${bot}-2`];
    await world.in(async (tx) => {
      await insertPendingCall(tx, { id: asking, agent_id: bot });
      await insertPendingCall(tx, { id: question, agent_id: bot, wait_kind: 'input', during_call: asking });
    });
    await remove(bot);
    const calls = world.store.db.selectFrom('calls').select(['status', 'wait_status', 'settled_at', 'outcome']);
    expect(await calls.where('agent_id', '=', bot).orderBy('id').execute()).toMatchObject([
      {
        ...{ status: 'settled', wait_status: 'cancelled', settled_at: expect.any(Number) },
        outcome: expect.stringContaining('The agent was deleted.'),
      },
      { status: 'settled', wait_status: 'cancelled', settled_at: expect.any(Number) },
    ]);
  });

  test('[G17] events that wait for it are dead and kept with the reason, and no agent is woken', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    await world.say(space, ann, 'Too late');
    await world.in((tx) => insertPlan(tx, { agent_id: bot, next_at: 1 }));
    world.wakes.length = 0;
    await remove(bot);
    await world.say(space, ann, 'Anybody there?');
    expect((await listInbox(world.store.db, { agentId: bot })).items).toMatchObject([
      { status: 'dead', error: { code: 'agent_deleted' } },
    ]);
    const plans = await world.store.db.selectFrom('plans').select('next_at').where('agent_id', '=', bot).execute();
    expect(plans).toEqual([{ next_at: null }]);
    expect(world.wakes).toEqual([]);
    await expect(
      world.in((tx) => pushServiceEvent(tx, { agentId: bot, source: 's', name: 'n' })),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[G17] its run is asked to end', async () => {
    const [bot, neighbour] = [await world.agent(), await world.agent()];
    const [open, ended, untouched] = await world.in(async (tx) => [
      await insertRun(tx, { thread_id: bot, number: 2 }),
      await insertRun(tx, { thread_id: bot, number: 1, status: 'completed' }),
      await insertRun(tx, { thread_id: neighbour }),
    ]);
    await remove(bot);
    expect(await getRun(world.store.db, open)).toMatchObject({ cancelRequestedAt: expect.any(Number) });
    for (const id of [ended, untouched])
      expect(await getRun(world.store.db, id)).not.toHaveProperty('cancelRequestedAt');
    expect(world.told.filter(({ type }) => type === 'run.cancelling').map(({ stream }) => stream)).toEqual([
      `run:${open}`,
    ]);
  });

  test('[G17] a run that a worker is about to begin is asked to end', async () => {
    const bot = await world.agent();
    const claimed = await world.store.transaction((tx) =>
      claimThread(tx, bot, { owner: 'worker', leaseMs: 60_000 }, async () => {}),
    );
    if (claimed === undefined) throw new Error('The thread is free.');
    const begin = (hold: () => Promise<void>) =>
      fenced(world.store, claimed.held.lease, async (tx) => {
        await getAgent(tx.db, bot);
        await hold();
        return await insertRun(tx, { thread_id: bot });
      });
    const [runId] = await overlap(other.store, begin, () => remove(bot, other));
    expect(await getRun(world.store.db, runId)).toMatchObject({ cancelRequestedAt: expect.any(Number) });
  });

  test('[G17] an event that is pushed while the agent is deleted is dead', async () => {
    const bot = await world.agent();
    const push = (hold: () => Promise<void>) =>
      world.in(async (tx) => {
        await pushServiceEvent(tx, { agentId: bot, source: 's', name: 'n' });
        await hold();
      });
    await overlap(other.store, push, () => remove(bot, other));
    expect(await statusesOf(bot)).toEqual(['dead']);
  });

  test('[G17] a space that the agent joins while it is deleted is left', async () => {
    const [bot, space] = [await world.agent(), await world.space()];
    const join = (hold: () => Promise<void>) =>
      world.in(async (tx) => {
        await addMember(tx, { spaceId: space, entityId: bot });
        await hold();
      });
    await overlap(other.store, join, () => remove(bot, other));
    expect((await listMembers(world.store.db, { spaceId: space })).items).toEqual([]);
  });

  test('[G17] an agent that is removed from a space while it is deleted is deleted too', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const [left, kept] = [await world.space('Space', [ann, bot]), await world.space('Space', [ann, bot])];
    const takeOut = (hold: () => Promise<void>) =>
      world.in(async (tx) => {
        await removeMember(tx, { spaceId: left, entityId: bot });
        await hold();
      });
    const [, deleted] = await overlap(other.store, takeOut, () => remove(bot, other));
    expect(deleted).toMatchObject({ status: 'fulfilled' });
    await expect(getAgent(world.store.db, bot)).rejects.toMatchObject({ code: 'not_found' });
    for (const id of [left, kept])
      expect((await listMembers(world.store.db, { spaceId: id })).items).toMatchObject([{ entityId: ann }]);
    const gone = [...world.told, ...(kind === 'postgres' ? other.told : [])].filter(
      ({ type, stream }) => type === 'member.left' && stream === `space:${left}`,
    );
    expect(gone).toHaveLength(1);
  });

  test('[G17] a message that is posted while the agent is deleted is dead', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    const say = (hold: () => Promise<void>) =>
      world.in(async (tx) => {
        await postMessage(world.services, tx, { spaceId: space, entityId: ann, text: 'Hi' });
        await hold();
      });
    await overlap(other.store, say, () => remove(bot, other));
    expect(await statusesOf(bot)).toEqual(['dead']);
  });

  test('[G17] whatever happens at the same moment, nothing waits for it and it is in no space', async () => {
    const ann = await world.person();
    for (let round = 0; round < 5; round++) {
      const [bot, friend] = [await world.agent(), await world.agent()];
      const spaces = [await world.space('Space', [ann, bot, friend]), await world.space('Space', [ann, bot])];
      const joined = await world.space('Space', [ann]);
      const event = { agentId: bot, source: 's', name: 'n' };
      await Promise.allSettled([
        ...spaces.map((id) => world.say(id, ann, 'a')),
        ...spaces.map((id) => other.say(id, ann, 'b')),
        world.in((tx) => pushServiceEvent(tx, event)),
        other.in((tx) => addMember(tx, { spaceId: joined, entityId: bot })),
        remove(bot, other),
        other.in((tx) => pushServiceEvent(tx, event)),
        world.say(spaces[0] ?? '', ann, 'c'),
      ]);
      await expect(getAgent(world.store.db, bot)).rejects.toMatchObject({ code: 'not_found' });
      expect((await statusesOf(bot)).filter((status) => status !== 'dead')).toEqual([]);
      for (const id of [...spaces, joined]) {
        const { items } = await listMembers(world.store.db, { spaceId: id });
        expect(items.map(({ entityId }) => entityId)).not.toContain(bot);
      }
      expect(await statusesOf(friend)).toHaveLength(3);
    }
  });
});
