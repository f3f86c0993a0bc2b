import { expect, test } from 'vitest';
import { pauseAgent } from '../../src/domain/agents/pause-agent.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { openDesk } from '../calls/desk.ts';
import { openApi } from '../http/api.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';

interface Space {
  readonly id: string;
  readonly lastSeq: number;
  readonly unread?: number;
  readonly waiting?: number;
}

describeIdleWorld('activity in spaces', ({ world }) => {
  const database = { open: () => Promise.reject(new Error('The store is open already.')) } as never;
  const api = forAllTests(async () => {
    const opened = await openApi(database, { services: world.services });
    // The store is closed by the world.
    return { ...opened, close: async () => opened.app.stop() };
  });
  const as = async (entityId: string, method: string, path: string, body?: unknown) =>
    await api.call(method, path, { secret: await api.tokenOf(entityId), body });

  test('the response to a message says which agents get it, and how, also when it is sent again', async () => {
    const [ada, bot, sleepy, talker] = [
      await world.person('Ada'),
      await world.agent('Bot'),
      await world.agent('Sleepy'),
      await world.agent('Talker', { limits: { hopLimit: 0 } }),
    ];
    await world.in((tx) => pauseAgent(tx, sleepy));
    const space = await world.space('Hall', [ada, bot, sleepy, talker]);
    const message = { text: 'Hello.', clientMessageId: 'm-1' };
    const posted = (await as(ada, 'POST', `/api/spaces/${space}/messages`, message)).body;
    const hearing = (entityId: string, how: string) => ({ entityId, as: how });
    const sorted = (heardBy: readonly { entityId: string }[]) =>
      heardBy.toSorted((one, other) => (one.entityId < other.entityId ? -1 : 1));
    const expected = [hearing(bot, 'queued'), hearing(sleepy, 'paused'), hearing(talker, 'queued')];
    expect(sorted(posted.heardBy)).toEqual(sorted(expected));
    const again = (await as(ada, 'POST', `/api/spaces/${space}/messages`, message)).body;
    expect(again).toMatchObject({ id: posted.id, duplicate: true });
    expect(sorted(again.heardBy)).toEqual(sorted(expected));
    const byAgent = await api.done<{ heardBy: { entityId: string }[] }>('POST', `/api/spaces/${space}/messages`, {
      text: 'Hi.',
      entityId: bot,
    });
    expect(sorted(byAgent.heardBy)).toEqual(sorted([hearing(sleepy, 'paused'), hearing(talker, 'withheld')]));
  });

  test('a space has its last message, the number of unseen messages of a member, and the number of calls that wait for it', async () => {
    const desk = await openDesk(world);
    const { person, agent, space } = desk;
    await world.post(space, agent, 'One');
    await world.post(space, agent, 'Two');
    await world.post(space, person, 'Mine');
    const read = async (entityId: string) => ((await as(entityId, 'GET', `/api/spaces/${space}`)).body ?? {}) as Space;
    expect(await read(person)).toMatchObject({ lastSeq: 3, unread: 2, waiting: 0 });
    expect((await as(person, 'POST', `/api/spaces/${space}/seen`, { seq: 1 })).body).toEqual({
      spaceId: space,
      entityId: person,
      seq: 1,
    });
    expect(await read(person)).toMatchObject({ unread: 1 });
    // The position never goes back, and never beyond the last message.
    expect((await as(person, 'POST', `/api/spaces/${space}/seen`, { seq: 0 })).body.seq).toBe(1);
    expect((await as(person, 'POST', `/api/spaces/${space}/seen`, { seq: 99 })).body.seq).toBe(3);
    expect(await read(person)).toMatchObject({ unread: 0 });
    await desk.ask();
    await desk.ask({ answeredBy: { roles: ['owner'] } });
    const { items } = (await as(person, 'GET', '/api/spaces')).body as { items: Space[] };
    // The cards are messages too.
    expect(items).toMatchObject([{ id: space, lastSeq: 5, unread: 2, waiting: 1 }]);
    const all = await api.done<Space>('GET', `/api/spaces/${space}`);
    expect(all).toMatchObject({ waiting: 2 });
    expect(all).not.toHaveProperty('unread');
    const onBehalf = await api.done<{ items: Space[] }>('GET', `/api/spaces?entityId=${person}`);
    expect(onBehalf.items).toMatchObject([{ id: space, unread: 2, waiting: 1 }]);
  });

  test('no more than 100 unseen messages are counted', async () => {
    const [ada, bob] = [await world.person('Ada'), await world.person('Bob')];
    const space = await world.space('Hall', [ada, bob]);
    for (let count = 0; count < 105; count++) await world.post(space, bob, `Message ${count}`);
    expect((await as(ada, 'GET', `/api/spaces/${space}`)).body).toMatchObject({ lastSeq: 105, unread: 100 });
  });

  test('[G1] an entity outside of a space learns nothing about it and cannot mark messages as seen', async () => {
    const { person, stranger, space } = await openDesk(world);
    const seen = { seq: 1 };
    expect((await as(stranger, 'POST', `/api/spaces/${space}/seen`, seen)).status).toBe(404);
    expect((await as(stranger, 'POST', `/api/spaces/${space}/seen`, { ...seen, entityId: person })).status).toBe(422);
    expect((await api.call('POST', `/api/spaces/${space}/seen`, { body: seen })).status).toBe(422);
    expect((await as(stranger, 'GET', `/api/spaces/${space}`)).status).toBe(404);
    expect((await as(stranger, 'GET', '/api/spaces')).body.items).toEqual([]);
    await world.in((tx) => removeMember(tx, { spaceId: space, entityId: person }));
    expect((await as(person, 'POST', `/api/spaces/${space}/seen`, seen)).status).toBe(404);
    expect((await as(person, 'GET', '/api/spaces')).body.items).toEqual([]);
  });
});
