import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import { type Api, toRequest } from '../http/api.ts';
import { readEventStream } from '../streams/event-stream.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { textsOf } from '../support/requests.ts';
import { call, chatApi } from './chat-api.ts';

/** A tool whose calls wait until the test releases them. */
function gate() {
  const entered = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const wait = tool({
    description: 'Waits.',
    inputSchema: z.looseObject({}),
    async execute(_input, { abortSignal }) {
      entered.resolve();
      const aborted = new Promise((_resolve, reject) =>
        abortSignal?.addEventListener('abort', () => reject(new Error())),
      );
      await Promise.race([opened.promise, aborted]);
      return 'Waited.';
    },
  });
  return { wait, entered: entered.promise, open: opened.resolve };
}

const stream = async (api: Api, body: object, headers: object = {}) =>
  readEventStream(
    await api.app.fetch(
      toRequest('POST', '/chat', { body, secret: api.key, headers: { accept: 'text/event-stream', ...headers } }),
    ),
  );

describeWorlds('runs of the chat endpoints', (open) => {
  test('[C9] with Accept: text/event-stream the events of the turn are streamed, and the answer of a plain request is last, as done', async () => {
    const model = scriptedModel([[call('wait')], 'All done.']);
    const { wait, open: letGo } = gate();
    letGo();
    const world = await open({ models: { default: model }, tools: { wait } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['wait'] });
    const events = await (await stream(api, { agent, message: 'Go' }, { 'idempotency-key': 'a' })).rest();
    const types = events.map(({ event }) => event);
    expect(types[0]).toBe('run.start');
    for (const type of [
      'step.start',
      'tool-input-start',
      'tool-call.start',
      'tool-call.complete',
      'text.delta',
      'run.end',
    ])
      expect(types).toContain(type);
    const text = events.flatMap(({ event, data }) => (event === 'text.delta' ? [data.delta] : [])).join('');
    expect(text).toBe('All done.');
    expect(types.at(-1)).toBe('done');
    const body = { agent, message: 'Go' };
    const plain = await api.call('POST', '/chat', { body, headers: { 'idempotency-key': 'a' } });
    expect(events.at(-1)?.data).toEqual(plain.body);
    expect(plain.body.response).toBe('All done.');
  });

  test('[C9] a run that exceeds its limits ends the stream with the same error as a plain request', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Text.') } });
    const api = await chatApi(world);
    const agent = await api.agent();
    const terminating_config = { tool_ids: ['complete_task'], consecutive_nudges: 0 };
    const events = await (await stream(api, { agent, message: 'Go', terminating_config })).rest();
    expect(events.at(-1)).toMatchObject({
      event: 'error',
      data: {
        error: { code: 'max_consecutive_nudges_exceeded' },
        generated_messages: [{}, { sender: 'ai', message: 'Text.' }],
      },
    });
  });

  test('[C9] [C10] a stream that broke is resumed with the same key after the last event', async () => {
    const { wait, entered, open: letGo } = gate();
    const model = scriptedModel([{ text: 'First.', calls: [call('wait')] }, 'Last.']);
    const world = await open({ models: { default: model }, tools: { wait } });
    const api = await chatApi(world);
    const body = { agent: await api.agent('Bot', { tools: ['wait'] }), message: 'Go' };
    const first = await stream(api, body, { 'idempotency-key': 'b' });
    await entered;
    let seen = await first.next();
    while (seen?.event !== 'tool-call.start') seen = await first.next();
    await first.close();
    const second = await stream(api, body, { 'idempotency-key': 'b', 'last-event-id': seen.id });
    letGo();
    const events = await second.rest();
    expect(events.map(({ event }) => event)).not.toContain('run.start');
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { response: 'Last.' } });
    expect(model.requests).toHaveLength(2);
  });

  test('[G45] [C10] a stream that is resumed after the run has ended has each missed event once, and then the answer', async () => {
    const world = await open({ models: { default: scriptedModel(['First.', 'Second.']) } });
    const api = await chatApi(world);
    const body = { agent: await api.agent(), message: 'Go' };
    const key = { 'idempotency-key': 'resumed' };
    const resume = async (id: string | number) =>
      (await (await stream(api, body, { ...key, 'last-event-id': String(id) })).rest()).filter(
        ({ event }) => event !== undefined,
      );
    const events = await (await stream(api, body, key)).rest();
    const [done] = events.slice(-1);
    const last = Number(events.at(-2)?.id);
    expect(events.at(-2)?.event).toBe('run.end');
    for (const after of [0, 2, last - 1]) expect(await resume(after)).toEqual(events.slice(after));
    // Nothing is missing after the last event, and nothing is known of an event that there never was.
    for (const after of [last, last + 1]) expect(await resume(after)).toEqual([done]);
    const wrong = await api.call('POST', '/chat', {
      body,
      headers: { ...key, accept: 'text/event-stream', 'last-event-id': 'x' },
    });
    expect([wrong.status, wrong.body.error.details.path]).toEqual([422, 'Last-Event-ID']);
    await sweepStreams(api.services, { now: Date.now() + api.services.limits.streamWindowMs + 60_000 });
    expect(await resume(2)).toEqual([done]);
    // Without the id of an event, only the answer comes.
    expect(await (await stream(api, body, key)).rest()).toEqual([done]);
  });

  test.each(['/chat', '/v1/chat/completions'])(
    '[C8] a stream from an invalid event id is refused, and nothing runs (%s)',
    async (path) => {
      const model = scriptedModel(() => 'Hello.');
      const world = await open({ models: { default: model } });
      const api = await chatApi(world);
      const agent = await api.agent();
      const body =
        path === '/chat'
          ? { agent, message: 'Go' }
          : { model: agent, messages: [{ role: 'user', content: 'Go' }], stream: true };
      const refused = await api.call('POST', path, {
        body,
        headers: { accept: 'text/event-stream', 'last-event-id': 'x' },
      });
      expect(JSON.stringify(refused.body)).toContain('Last-Event-ID');
      await world.idle();
      expect(model.requests).toEqual([]);
    },
  );

  test('[C10] two requests on one conversation run one after another, in the order of arrival', async () => {
    const { wait, entered, open: letGo } = gate();
    const model = scriptedModel([[call('wait')], 'First.', 'Second.', 'Third.']);
    const world = await open({ models: { default: model }, tools: { wait } });
    const api = await chatApi(world);
    const { id: context_id } = await api.done('POST', '/contexts', {
      agent: await api.agent('Bot', { tools: ['wait'] }),
    });
    const first = api.done('POST', '/chat', { context_id, message: 'one' });
    await entered;
    const second = api.done('POST', '/chat', { context_id, message: 'two' });
    await expect.poll(async () => (await world.inbox(String(context_id))).length).toBe(2);
    const third = api.done('POST', '/chat', { context_id, message: 'three' });
    await expect.poll(async () => (await world.inbox(String(context_id))).length).toBe(3);
    expect(model.requests).toHaveLength(1);
    letGo();
    const responses = (await Promise.all([first, second, third])).map(({ response }) => response);
    expect(responses).toEqual(['First.', 'Second.', 'Third.']);
    expect(textsOf(model.requests[3]?.prompt ?? [])).toEqual(['one', 'two', 'three']);
  });

  test('[C10] of many equal requests at once with one key, one runs, and all get its answer', async () => {
    const model = scriptedModel(() => 'Once.');
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const body = { agent: await api.agent(), message: 'Go' };
    const headers = { 'idempotency-key': 'c' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => (await api.call('POST', '/chat', { body, headers })).body),
    );
    expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(model.requests).toHaveLength(1);
    const other = await api.call('POST', '/chat', { body: { ...body, message: 'Other' }, headers });
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    // Another caller's key of the same name is another key.
    const secret = await api.keyWith('write');
    expect((await api.call('POST', '/chat', { body, headers, secret })).body.run_id).not.toBe(answers[0].run_id);
  });

  test('[C11] a client that disconnects does not stop the run, and GET /api/runs/:id has its result', async () => {
    const { wait, entered, open: letGo } = gate();
    const model = scriptedModel([[call('wait')], [call('complete_task', { result: 'all the same' })]]);
    const world = await open({ models: { default: model }, tools: { wait } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['wait'] });
    const leaving = new AbortController();
    const body = { agent, message: 'Go', terminating_config: { tool_ids: ['complete_task'] } };
    const request = new Request(toRequest('POST', '/chat', { body, secret: api.key }), { signal: leaving.signal });
    const answering = api.app.fetch(request);
    await entered;
    leaving.abort();
    expect((await answering).status).toBe(499);
    const { items } = await api.done<{ items: { id: string }[] }>('GET', `/api/runs?agentId=${agent}`);
    const path = `/api/runs/${items[0]?.id}`;
    expect(await api.done('GET', path)).toMatchObject({ status: 'running' });
    letGo();
    await world.idle();
    expect(await api.done('GET', path)).toMatchObject({
      status: 'completed',
      result: { response: 'Task completed: all the same', stop: { by: 'terminating' } },
    });
    expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('[C11] POST /api/runs/:id/cancel stops a run, and also one that waits behind another', async () => {
    const { wait, entered } = gate();
    const model = scriptedModel(() => call('wait'));
    const world = await open({ models: { default: model }, tools: { wait } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['wait'] });
    const { id: context_id } = await api.done<{ id: string }>('POST', '/contexts', { agent });
    const running = api.call('POST', '/chat', { body: { context_id, message: 'one' } });
    await entered;
    const waiting = api.call('POST', '/chat', { body: { context_id, message: 'two' } });
    await expect.poll(async () => (await world.inbox(context_id)).length).toBe(2);
    const [first, second] = (await world.inbox(context_id)).map(({ event }) =>
      event.type === 'chat' ? event.runId : '',
    );
    expect(await api.done('GET', `/api/runs/${second}`)).toMatchObject({ status: 'queued' });
    await api.done('POST', `/api/runs/${second}/cancel`);
    expect((await waiting).body.error.code).toBe('run_cancelled');
    await api.done('POST', `/api/runs/${first}/cancel`);
    expect((await running).body.error).toMatchObject({
      code: 'run_cancelled',
      details: { stop: { reason: 'aborted' } },
    });
    await world.idle();
    expect(model.requests).toHaveLength(1);
    expect((await api.call('POST', `/api/runs/${second}/cancel`)).status).toBe(409);
  });

  test('[C11] the headers of a stream name its run and conversation, so that a request that waits behind another can be cancelled', async () => {
    const { wait, entered } = gate();
    const world = await open({ models: { default: scriptedModel(() => call('wait')) }, tools: { wait } });
    const api = await chatApi(world);
    const { id: context_id } = await api.done<{ id: string }>('POST', '/contexts', {
      agent: await api.agent('Bot', { tools: ['wait'] }),
    });
    const send = async (message: string) => {
      const headers = { accept: 'text/event-stream', 'idempotency-key': message };
      const sent = { body: { context_id, message }, secret: api.key, headers };
      const response = await api.app.fetch(toRequest('POST', '/chat', sent));
      expect(response.headers.get('x-context-id')).toBe(context_id);
      return { runId: response.headers.get('x-run-id'), events: readEventStream(response) };
    };
    const first = await send('one');
    await entered;
    const second = await send('two');
    expect(await api.done('GET', `/api/runs/${second.runId}`)).toMatchObject({ status: 'queued' });
    await api.done('POST', `/api/runs/${second.runId}/cancel`);
    const told = { event: 'error', data: { error: { code: 'run_cancelled', details: { run_id: second.runId } } } };
    expect((await second.events.rest()).at(-1)).toMatchObject(told);
    // A repeated request, whose run is over, has them too.
    const again = await send('two');
    expect([again.runId, (await again.events.rest()).at(-1)?.event]).toEqual([second.runId, 'error']);
    await api.done('POST', `/api/runs/${first.runId}/cancel`);
    expect((await first.events.rest()).at(-1)).toMatchObject({ event: 'error' });
    await world.idle();
  });

  test('a failing model ends the run with 502, once, and the conversation continues', async () => {
    // A run of an agent would be retried after this error.
    const model = scriptedModel([new Error('Broken.'), 'Better.']);
    const world = await open({ models: { default: model } });
    const api = await chatApi(world);
    const { id: context_id } = await api.done('POST', '/contexts', { agent: await api.agent() });
    const failed = await api.call('POST', '/chat', { body: { context_id, message: 'one' } });
    expect([failed.status, failed.body.error.code]).toEqual([502, 'run_failed']);
    await world.idle();
    expect(model.requests).toHaveLength(1);
    expect((await api.done('POST', '/chat', { context_id, message: 'two' })).response).toBe('Better.');
  });

  test('a call that needs approval suspends the run, and its answer over HTTP continues it under the same contract', async () => {
    const pay = tool({ description: 'Pays.', inputSchema: z.looseObject({}), approval: true, execute: () => 'Paid.' });
    const model = scriptedModel([[call('pay')], 'Text.', [call('complete_task', { result: 'paid' })]]);
    const world = await open({ models: { default: model }, tools: { pay } });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['pay'] });
    const terminating_config = { tool_ids: ['complete_task'] };
    const asked = await api.done('POST', '/chat', { agent, message: 'Pay', terminating_config });
    expect(asked).toMatchObject({
      stop: { reason: 'suspended' },
      pending_calls: [{ tool_name: 'pay', kind: 'approval' }],
    });
    const [{ tool_call_id: callId }] = asked.pending_calls as [{ tool_call_id: string }];
    await api.done('POST', `/api/runs/${String(asked.run_id)}/tool-results`, { callId, approve: true });
    await world.idle();
    const { messages } = await api.done<{ messages: object[] }>('GET', `/contexts/${String(asked.context_id)}`);
    expect(messages.slice(1)).toMatchObject([
      { type: 'tool_call', tool_name: 'pay' },
      { type: 'tool_response', tool_output: 'Paid.' },
      { sender: 'ai', message: 'Text.' },
      { type: 'tool_call', tool_name: 'complete_task' },
      { type: 'tool_response', tool_output: 'Task completed: paid' },
    ]);
  });
});
