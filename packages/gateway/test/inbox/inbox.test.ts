import { expect, test } from 'vitest';
import { type InboxFilter, listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { pushCommand } from '../../src/domain/inbox/push-command.ts';
import { type NewServiceEvent, pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { redrive } from '../../src/domain/inbox/redrive.ts';
import type { InboxStatus } from '../../src/ports/store/schema/tables.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import type { World } from '../support/world.ts';

describeIdleWorld('the inbox', ({ world, beside }) => {
  const other = beside();

  const push = (agentId: string, given: Partial<NewServiceEvent> = {}, at: World = world) =>
    at.in((tx) => pushServiceEvent(tx, { agentId, source: 'shop', name: 'order', data: { id: 1 }, ...given }));
  const list = async (agentId: string, filter: Partial<InboxFilter> = {}) =>
    (await listInbox(world.store.db, { agentId, ...filter })).items;
  const set = (agentId: string, eventId: string, status: InboxStatus) =>
    world.in((tx) =>
      tx.db
        .updateTable('inbox_events')
        .set({ status, attempts: 5, error: '{"code":"model"}', run_id: 'run', available_at: 9e12 })
        .where('thread_id', '=', agentId)
        .where('event_id', '=', eventId)
        .execute(),
    );
  const drive = (agentId: string, eventIds?: readonly string[]) => world.in((tx) => redrive(tx, { agentId, eventIds }));

  test('[A19] a command with a key that another request has used since this one looked for it is the same command, or refused', async () => {
    const agentId = await world.agent();
    const give = (more: object = {}) => {
      const command = { agentId, threadId: agentId, name: 'add', input: { count: 1 }, idempotencyKey: 'k', ...more };
      return world.in((tx) => pushCommand(tx, command));
    };
    const [first, again] = await Promise.all([give(), give()]);
    expect([first.duplicate, again.duplicate].toSorted()).toEqual([false, true]);
    expect(again.eventId).toBe(first.eventId);
    for (const other of [{ name: 'take' }, { input: { count: 2 } }, { instanceId: 'root.1' }])
      await expect(give(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await list(agentId)).toHaveLength(1);
  });

  test('[G7] an event of a service waits with its source and data, and wakes the agent', async () => {
    const bot = await world.agent();
    world.wakes.length = 0;
    const pushed = await push(bot, { eventId: 'order-1' });
    expect(pushed).toEqual({ eventId: 'order-1', duplicate: false });
    expect(await list(bot)).toMatchObject([
      {
        eventId: 'order-1',
        type: 'service',
        status: 'pending',
        attempts: 0,
        event: { type: 'service', source: 'shop', name: 'order', data: { id: 1 } },
      },
    ]);
    expect(world.wakes).toEqual([bot]);
  });

  test('[G7] an event id is delivered once per agent, however often and wherever it is pushed', async () => {
    const [one, two] = [await world.agent(), await world.agent()];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => push(one, { eventId: 'e' }, index % 2 === 0 ? world : other)),
    );
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await list(one)).toHaveLength(1);
    await set(one, 'e', 'done');
    expect(await push(one, { eventId: 'e' })).toEqual({ eventId: 'e', duplicate: true });
    expect(await push(two, { eventId: 'e' })).toEqual({ eventId: 'e', duplicate: false });
  });

  test('[G7] without an id every push is a new event', async () => {
    const bot = await world.agent();
    const [one, two] = [await push(bot), await push(bot)];
    expect(one.eventId).not.toBe(two.eventId);
    expect(await list(bot)).toHaveLength(2);
  });

  test.each(['message:1', 'tool_result:1', 'plan:1', '', 'a\u0000b'])(
    '[G7] services cannot use the id %j, which could block a real event',
    async (eventId) => {
      const bot = await world.agent();
      await expect(push(bot, { eventId })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { path: 'eventId' },
      });
    },
  );

  test('[G54] wrong fields are refused with their path, and unknown agents are not found', async () => {
    const bot = await world.agent();
    await expect(push(bot, { source: '' })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { path: 'source' },
    });
    await expect(push(bot, { name: 'a\u0000b' })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { path: 'name' },
    });
    await expect(push('nobody')).rejects.toMatchObject({ code: 'not_found' });
    await expect(push('a\u0000b')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[G53] data that is too large, and events for a full inbox, are refused; repeated events are answered', async () => {
    const bot = await world.agent();
    const small = world.with({ inboxLength: 2, resultBytes: 20 });
    await expect(push(bot, { data: 'ä'.repeat(10) }, small)).rejects.toMatchObject({
      code: 'too_large',
      details: { path: 'data', limit: 20 },
    });
    await push(bot, { eventId: 'one' }, small);
    await push(bot, { eventId: 'two' }, small);
    await expect(push(bot, { eventId: 'three' }, small)).rejects.toMatchObject({ code: 'inbox_full' });
    expect(await push(bot, { eventId: 'two' }, small)).toMatchObject({ duplicate: true });
    expect(await list(bot)).toHaveLength(2);
  });

  test('the inbox is listed newest first, in pages, by status', async () => {
    const bot = await world.agent();
    for (const eventId of ['a', 'b', 'c']) await push(bot, { eventId });
    await set(bot, 'b', 'dead');
    const first = await listInbox(world.store.db, { agentId: bot, limit: 2 });
    const second = await listInbox(world.store.db, { agentId: bot, limit: 2, cursor: first.next });
    expect([...first.items, ...second.items].map(({ eventId }) => eventId)).toEqual(['c', 'b', 'a']);
    expect(second.next).toBeUndefined();
    expect(await list(bot, { status: 'dead' })).toMatchObject([
      { eventId: 'b', error: { code: 'model' }, attempts: 5, runId: 'run' },
    ]);
    await expect(list(bot, { cursor: '-1' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('[G11] dead and withheld events are redriven as if they had just arrived; others stay', async () => {
    const bot = await world.agent();
    const statuses = { d: 'dead', w: 'withheld', c: 'claimed', o: 'done' } as const;
    for (const [eventId, status] of Object.entries(statuses)) {
      await push(bot, { eventId });
      await set(bot, eventId, status);
    }
    world.wakes.length = 0;
    expect((await drive(bot)).toSorted()).toEqual(['d', 'w']);
    const now = new Map((await list(bot)).map((item) => [item.eventId, item]));
    for (const id of ['d', 'w']) {
      expect(now.get(id)).toMatchObject({ status: 'pending', attempts: 0 });
      expect(now.get(id)).not.toHaveProperty('error');
      expect(now.get(id)).not.toHaveProperty('runId');
      expect(now.get(id)?.availableAt).toBeLessThan(9e12);
    }
    expect(now.get('c')).toMatchObject({ status: 'claimed', attempts: 5 });
    expect(now.get('o')).toMatchObject({ status: 'done', attempts: 5 });
    expect(world.wakes).toEqual([bot]);
  });

  test('[G11] only the named events of this agent are redriven; without any, no agent is woken', async () => {
    const [bot, neighbour] = [await world.agent(), await world.agent()];
    for (const id of [bot, neighbour])
      for (const eventId of ['a', 'b']) {
        await push(id, { eventId });
        await set(id, eventId, 'dead');
      }
    expect(await drive(bot, ['a', 'none', 'a\u0000b'])).toEqual(['a']);
    expect((await list(bot, { status: 'dead' })).map(({ eventId }) => eventId)).toEqual(['b']);
    expect(await list(neighbour, { status: 'dead' })).toHaveLength(2);
    world.wakes.length = 0;
    expect(await drive(bot, ['a'])).toEqual([]);
    expect(await drive(bot, [])).toEqual([]);
    expect(world.wakes).toEqual([]);
    await expect(drive('nobody')).rejects.toMatchObject({ code: 'not_found' });
    await expect(drive(bot, Array(1_001).fill('a'))).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
