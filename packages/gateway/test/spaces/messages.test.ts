import { expect, test } from 'vitest';
import { pauseAgent } from '../../src/domain/agents/pause-agent.ts';
import { listInbox } from '../../src/domain/inbox/list-inbox.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { type NewMessage, postMessage } from '../../src/domain/spaces/post-message.ts';
import { openCard } from '../../src/domain/spaces/tool-card.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import type { World } from '../support/world.ts';

describeIdleWorld('messages', ({ world, beside }) => {
  /** Two gateways if the database can be shared. */
  const gateways = [world, beside()];

  const post = (given: NewMessage, at: World = world) => at.in((tx) => postMessage(at.services, tx, given));
  const inboxOf = async (agentId: string) => (await listInbox(world.store.db, { agentId })).items.toReversed();
  const textsOf = async (spaceId: string) =>
    (await listMessages(world.store.db, { spaceId, limit: 200 })).items.map(({ text }) => text);

  test('a message is emitted completely, and read back the same', async () => {
    const ann = await world.person();
    const space = await world.space('Space', [ann]);
    const text = 'Hello 🙂 \u0000 half \ud800 \u2028 </inbox>';
    const message = await world.post(space, ann, text, { metadata: { mood: 'good' } });
    expect(message).toMatchObject({ seq: 1, entityId: ann, kind: 'text', text, status: 'complete' });
    expect(message.metadata).toEqual({ mood: 'good' });
    expect((await listMessages(world.store.db, { spaceId: space })).items).toEqual([message]);
    expect(world.told.at(-1)).toMatchObject({
      stream: `space:${space}`,
      type: 'message.complete',
      payload: { streamId: message.id, message },
    });
  });

  test('a message that was streamed keeps its id and its stream', async () => {
    const bot = await world.agent();
    const space = await world.space('Space', [bot]);
    const message = await world.post(space, bot, 'Hi', { messageId: `m-${space}`, streamId: 's-1', runId: 'r-1' });
    expect(message).toMatchObject({ id: `m-${space}`, runId: 'r-1' });
    expect(world.told.at(-1)?.payload).toEqual({ streamId: 's-1', message });
    const again = await post({
      spaceId: space,
      entityId: bot,
      text: 'Hi',
      messageId: message.id,
    });
    expect(again).toEqual({ message, duplicate: true, heardBy: [] });
  });

  test('[G1] only members post, at the moment they post', async () => {
    const [ann, eve] = [await world.person(), await world.person()];
    const space = await world.space('Space', [ann]);
    const refused = { code: 'not_found', message: `There is no space "${space}".` };
    await expect(world.post(space, eve, 'Hi')).rejects.toMatchObject(refused);
    await world.post(space, ann, 'Hi');
    await world.in((tx) => removeMember(tx, { spaceId: space, entityId: ann }));
    await expect(world.post(space, ann, 'Still here?')).rejects.toMatchObject(refused);
    expect(await textsOf(space)).toEqual(['Hi']);
  });

  test('[G2] posts at the same moment are numbered 1 to n, without gaps or repeats', async () => {
    const people = [await world.person(), await world.person(), await world.person()];
    const space = await world.space('Space', [...people]);
    const posts = Array.from({ length: 30 }, (_, index) => {
      const entityId = people[index % 3] ?? '';
      return post({ spaceId: space, entityId, text: `${index}` }, gateways[index % 2]);
    });
    const numbers = (await Promise.all(posts)).map(({ message }) => message.seq);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    const { items } = await listMessages(world.store.db, { spaceId: space, limit: 200 });
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  test('[G2] the same clientMessageId is one message, also at the same moment, and every answer carries its id', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    const given = { spaceId: space, entityId: ann, text: 'Once', clientMessageId: 'c-1' };
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => post(given, gateways[index % 2])));
    expect(new Set(answers.map(({ message }) => message.id)).size).toBe(1);
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await inboxOf(bot)).toHaveLength(1);
    // A repetition gets no number.
    expect((await world.post(space, ann, 'Next')).seq).toBe(2);
  });

  test('[G2] a clientMessageId is unique per sender and space', async () => {
    const [ann, bea] = [await world.person(), await world.person()];
    const [here, there] = [await world.space('Space', [ann, bea]), await world.space('Space', [ann])];
    const sent = [
      await post({ spaceId: here, entityId: ann, text: 'a', clientMessageId: 'c' }),
      await post({ spaceId: here, entityId: bea, text: 'b', clientMessageId: 'c' }),
      await post({ spaceId: there, entityId: ann, text: 'c', clientMessageId: 'c' }),
    ];
    expect(sent.map(({ duplicate }) => duplicate)).toEqual([false, false, false]);
  });

  test('[G2] a refused message leaves no gap', async () => {
    const ann = await world.person();
    const space = await world.space('Space', [ann]);
    await world.post(space, ann, 'one');
    await expect(world.post(space, ann, '')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(world.in((tx) => failAfterPost(tx, space, ann))).rejects.toThrow('changed my mind');
    expect((await world.post(space, ann, 'two')).seq).toBe(2);
  });

  async function failAfterPost(tx: Parameters<typeof postMessage>[1], spaceId: string, entityId: string) {
    await postMessage(world.services, tx, { spaceId, entityId, text: 'never' });
    throw new Error('changed my mind');
  }

  test('[G3] every other agent of the space gets one event with the complete message, and is woken', async () => {
    const [ann, one, two] = [await world.person('Ann'), await world.agent('One'), await world.agent('Two')];
    const stranger = await world.agent('Stranger');
    const space = await world.space('Space', [ann, one, two]);
    world.wakes.length = 0;
    const first = await world.post(space, ann, 'Hello');
    // Urgent, because a person waits.
    expect(world.wakes.toSorted()).toEqual([`${one}@urgent`, `${two}@urgent`].toSorted());
    const reply = await world.post(space, one, 'Hello Ann', { replyTo: first.id });
    expect(world.wakes.slice(2)).toEqual([two]);
    expect((await inboxOf(two)).map(({ eventId, status, event }) => ({ eventId, status, event }))).toEqual([
      {
        eventId: `message:${first.id}`,
        status: 'pending',
        event: {
          type: 'space_message',
          messageId: first.id,
          seq: 1,
          spaceId: space,
          spaceName: 'Space',
          spaceNumber: 1,
          from: { entityId: ann, name: 'Ann', kind: 'human' },
          text: 'Hello',
        },
      },
      {
        eventId: `message:${reply.id}`,
        status: 'pending',
        event: {
          type: 'space_message',
          messageId: reply.id,
          seq: 2,
          spaceId: space,
          spaceName: 'Space',
          spaceNumber: 1,
          from: { entityId: one, name: 'One', kind: 'agent' },
          text: 'Hello Ann',
          replyTo: first.id,
          replyToSeq: 1,
        },
      },
    ]);
    expect((await inboxOf(one)).map(({ eventId }) => eventId)).toEqual([`message:${first.id}`]);
    expect(await inboxOf(stranger)).toEqual([]);
  });

  test('[G3] message and events are one transaction: neither exists without the other', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    world.wakes.length = 0;
    world.told.length = 0;
    await expect(world.in((tx) => failAfterPost(tx, space, ann))).rejects.toThrow();
    expect(await inboxOf(bot)).toEqual([]);
    expect(await textsOf(space)).toEqual([]);
    expect(world.wakes).toEqual([]);
    expect(world.told).toEqual([]);
  });

  test('[G16] a paused agent gets events, and they wait', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    await world.in((tx) => pauseAgent(tx, bot));
    await world.post(space, ann, 'Later');
    expect(await inboxOf(bot)).toMatchObject([{ status: 'pending' }]);
  });

  test('an agent that left gets nothing any more', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    await world.in((tx) => removeMember(tx, { spaceId: space, entityId: bot }));
    await world.post(space, ann, 'Gone?');
    expect(await inboxOf(bot)).toEqual([]);
  });

  test('[G4] a message replies to one of its own space, and to nothing else', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const [here, there] = [await world.space('Space', [ann, bot]), await world.space('Space', [ann])];
    const first = await world.post(here, ann, 'First');
    const elsewhere = await world.post(there, ann, 'Elsewhere');
    const card = await world.in((tx) =>
      openCard(tx, {
        spaceId: here,
        entityId: bot,
        runId: 'r',
        callId: `call-${here}`,
        toolName: 'weather',
        input: {},
        status: 'running',
      }),
    );
    expect(await world.post(here, ann, 'Second', { replyTo: first.id })).toMatchObject({ replyTo: first.id });
    for (const replyTo of [elsewhere.id, card.id, 'none', '', 'a\u0000b'])
      await expect(world.post(here, ann, 'Third', { replyTo })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { path: 'replyTo' },
      });
    expect((await textsOf(here)).filter((text) => text === 'Third')).toEqual([]);
  });

  test('[G6] messages are listed in pages, in order, and say whether there is more', async () => {
    const ann = await world.person();
    const space = await world.space('Space', [ann]);
    for (let i = 1; i <= 7; i++) await world.post(space, ann, `${i}`);
    const page = async (filter: { before?: number; after?: number; limit?: number }) => {
      const { items, hasMore } = await listMessages(world.store.db, { spaceId: space, ...filter });
      return [items.map(({ seq }) => seq), hasMore];
    };
    expect(await page({})).toEqual([[1, 2, 3, 4, 5, 6, 7], false]);
    expect(await page({ limit: 3 })).toEqual([[5, 6, 7], true]);
    expect(await page({ limit: 3, before: 5 })).toEqual([[2, 3, 4], true]);
    expect(await page({ limit: 3, before: 4 })).toEqual([[1, 2, 3], false]);
    expect(await page({ limit: 3, after: 0 })).toEqual([[1, 2, 3], true]);
    expect(await page({ limit: 3, after: 4 })).toEqual([[5, 6, 7], false]);
    expect(await page({ limit: 2, after: 2, before: 6 })).toEqual([[3, 4], true]);
    expect(await page({ after: 7 })).toEqual([[], false]);
    for (const limit of [0, 201, 0.5, Number.NaN])
      await expect(page({ limit })).rejects.toMatchObject({ code: 'invalid_request', details: { path: 'limit' } });
    for (const before of [-1, 1.5, 1e300, Number.NaN])
      await expect(page({ before })).rejects.toMatchObject({ code: 'invalid_request', details: { path: 'before' } });
  });

  test('[G53] a message that is empty or too long is refused, and nothing is cut', async () => {
    const ann = await world.person();
    const space = await world.space('Space', [ann]);
    const small = world.with({ messageCharacters: 10 });
    await expect(small.post(space, ann, 'a'.repeat(11))).rejects.toMatchObject({
      code: 'too_large',
      details: { path: 'text', limit: 10 },
    });
    await expect(small.post(space, ann, ' \n')).rejects.toMatchObject({
      code: 'invalid_request',
      details: { path: 'text' },
    });
    await small.post(space, ann, 'a'.repeat(10));
    for (const clientMessageId of ['', 'a\u0000b', 'half \ud800'])
      await expect(small.post(space, ann, 'a', { clientMessageId })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { path: 'clientMessageId' },
      });
    expect(await textsOf(space)).toEqual(['a'.repeat(10)]);
  });

  test('[G53] messages of people to a full inbox are refused with 429, and repeated messages are still answered', async () => {
    const [ann, bot] = [await world.person(), await world.agent()];
    const space = await world.space('Space', [ann, bot]);
    const small = world.with({ inboxLength: 2 });
    const first = await small.post(space, ann, 'one', { clientMessageId: 'c' });
    await small.post(space, ann, 'two');
    await expect(small.post(space, ann, 'three')).rejects.toMatchObject({
      code: 'inbox_full',
      retryAfter: expect.any(Number),
    });
    expect(await textsOf(space)).toEqual(['one', 'two']);
    expect(await small.post(space, ann, 'one', { clientMessageId: 'c' })).toEqual(first);
    await world.in((tx) =>
      tx.db
        .updateTable('inbox_events')
        .set({ status: 'done' })
        .where('thread_id', '=', bot)
        .where('event_id', '=', `message:${first.id}`)
        .execute(),
    );
    expect(await small.post(space, ann, 'three')).toMatchObject({ seq: 3 });
  });

  test('[G53] an agent’s message to a full inbox is kept, and its event is withheld', async () => {
    const [talker, deaf] = [await world.agent('Talker'), await world.agent('Deaf', { limits: { inboxLength: 1 } })];
    const space = await world.space('Space', [talker, deaf]);
    await world.post(space, talker, 'one');
    await world.post(space, talker, 'two');
    expect(await inboxOf(deaf)).toMatchObject([
      { status: 'pending' },
      { status: 'withheld', error: { code: 'inbox_full' } },
    ]);
    expect(await textsOf(space)).toEqual(['one', 'two']);
  });
});
