import { expect, test } from 'vitest';
import { answerText, doDuties } from './answering.ts';
import { ask } from './api.ts';
import { findPlace, openSite, say } from './site.ts';
import { until } from './until.ts';

test('[X27] a run that blocks every gateway that works on it fails when it is taken over for the third time, and the gateway works for others', {
  // Four gateways start one after the other.
  timeout: 600_000,
}, async () => {
  let mayHang = Promise.withResolvers<void>();
  await using site = await openSite({ decide: doDuties, onTool: () => mayHang.promise });
  const hangs = async (): Promise<number> =>
    (await site.effects()).filter(({ toolName }) => toolName === 'hang').length;
  for (const [life, name] of ['first', 'second', 'third'].entries()) {
    mayHang = Promise.withResolvers();
    const gateway = await site.start(name);
    if (life === 0) await say(gateway.url, 'North', 'Anna: hang m1');
    mayHang.resolve();
    await until('the gateway is blocked', async () => (await hangs()) === life + 1);
    await gateway.kill();
  }
  const { url } = await site.start('last');
  const { entities, spaces } = await findPlace(url);
  const dead = await until('its event is dead', async () => {
    const { items } = await ask(url, `/api/agents/${entities.Anna}/inbox?status=dead`);
    return items.length > 0 && items;
  });
  expect(dead).toMatchObject([{ error: { reason: 'error', code: 'no_progress' } }]);
  const { items: runs } = await ask(url, `/api/runs?agentId=${entities.Anna}`);
  expect(runs).toMatchObject([{ status: 'failed', stop: { code: 'no_progress' } }]);
  const told = site.db.selectFrom('stream_events').select('payload').where('stream', '=', `space:${spaces.North}`);
  const failures = await told.where('type', '=', 'agent.failed').execute();
  // Another agent of the space may have been at work in the same gateways.
  expect(failures.filter(({ payload }) => JSON.parse(payload).entityId === entities.Anna)).toHaveLength(1);
  expect(await hangs()).toBe(3);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  await say(url, 'South', 'Cleo: answer m2');
  await until('another agent answers', async () => {
    const messages = site.db.selectFrom('messages').select('id');
    return (await messages.where('content', '=', JSON.stringify(answerText('m2'))).execute()).length === 1;
  });
});
