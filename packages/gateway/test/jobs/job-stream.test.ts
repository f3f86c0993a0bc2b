import { afterEach, describe, expect, test } from 'vitest';
import { openApi, toRequest } from '../http/api.ts';
import { type EventStream, readEventStream } from '../streams/event-stream.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { embedded } from '../support/stores.ts';
import { openJob } from './job-desk.ts';

describe.each(embedded)('the stream of jobs on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: 25 }));
  const opened: EventStream[] = [];
  afterEach(async () => {
    for (const stream of opened.splice(0)) await stream.close().catch(() => {});
  });
  const follow = async (agentId: string, { secret = api.key, headers = {} } = {}): Promise<EventStream> => {
    const path = `/api/jobs/stream?agentId=${agentId}`;
    const stream = readEventStream(await api.app.fetch(toRequest('GET', path, { secret, headers })));
    opened.push(stream);
    return stream;
  };

  test('[X2] a subscriber gets the waiting jobs, and then each new one, without its input', async () => {
    const agentId = await api.agent();
    const waiting = await openJob(api, agentId);
    const taken = await openJob(api, agentId);
    await api.done('POST', `/api/jobs/${taken.callId}/claim`, { worker: 'w' });
    await openJob(api, await api.agent());
    const stream = await follow(agentId);
    const first = await stream.next();
    expect(first).toMatchObject({
      event: 'job.available',
      data: { callId: waiting.callId, toolName: 'haul', claims: 0 },
    });
    expect(first?.data).not.toHaveProperty('input');
    const fresh = await openJob(api, agentId);
    expect(await stream.next()).toMatchObject({ event: 'job.available', data: { callId: fresh.callId } });
    await api.done('POST', `/api/jobs/${fresh.callId}/claim`, { worker: 'w' });
    expect(await stream.next()).toMatchObject({ event: 'job.claimed', data: { callId: fresh.callId, worker: 'w' } });
  });

  test('[X2] a subscriber that reconnects gets the events that it missed, once', async () => {
    const agentId = await api.agent();
    const stream = await follow(agentId);
    const one = await openJob(api, agentId);
    expect((await stream.next())?.data.callId).toBe(one.callId);
    const lastEventId = stream.lastEventId ?? '';
    await stream.close();
    const other = await openJob(api, agentId);
    const again = await follow(agentId, { headers: { 'last-event-id': lastEventId } });
    expect((await again.next())?.data.callId).toBe(other.callId);
    const third = await openJob(api, agentId);
    expect((await again.next())?.data.callId).toBe(third.callId);
  });

  test('the stream of jobs is for secret keys, of an agent that exists', async () => {
    const agentId = await api.agent();
    expect((await follow(agentId, { secret: await api.tokenOf(await api.person()) })).status).toBe(403);
    expect((await follow('nobody')).status).toBe(404);
  });
});
