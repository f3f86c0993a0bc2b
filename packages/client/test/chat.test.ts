import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ChatEvent, type Client, ClientError, createClient } from '../src/index.ts';
import { startRoughProxy } from './support/rough-proxy.ts';

const call = (toolName: string, input: object = {}) => ({ toolName, input });

/** A gateway with one agent, a client of it, and a tool `wait` that ends when `openGate` is called. */
async function openDesk(replies: readonly ScriptedReply[]): Promise<Desk> {
  const gate = Promise.withResolvers<void>();
  const wait = tool({
    description: 'Waits.',
    inputSchema: z.object({}),
    effects: 'none',
    execute: () => gate.promise.then(() => 'Waited.'),
  });
  const model = scriptedModel([...replies]);
  const gateway = await startTestGateway({
    model,
    tools: { wait },
    agents: [{ name: 'Clerk', instructions: 'You keep the books.', tools: ['wait'] }],
  });
  return {
    gateway,
    model,
    client: createClient({ url: gateway.url, auth: { key: gateway.secretKey } }),
    openGate: () => gate.resolve(),
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
}

interface Desk extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly model: ReturnType<typeof scriptedModel>;
  readonly client: Client;
  openGate(): void;
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

describe('chat', { timeout: 60_000 }, () => {
  test('send returns the answer of the run, and a conversation is continued, read and deleted', async () => {
    await using desk = await openDesk(['Hello, Ada.', 'You are Ada.']);
    const { chat, conversations } = desk.client;
    const { id } = await conversations.create({ id: 'ada', metadata: { topic: 'names' } });
    const first = await chat.send({ context_id: id, message: 'I am Ada.' });
    expect(first).toMatchObject({
      response: 'Hello, Ada.',
      context_id: 'ada',
      stop: { reason: 'end_turn', by: 'text' },
    });
    expect((await chat.send({ context_id: id, message: 'Who am I?' })).response).toBe('You are Ada.');
    const messages: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await conversations.get(id, { cursor, limit: 2 });
      expect(page).toMatchObject({ id, metadata: { topic: 'names' } });
      messages.push(...page.messages);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(messages).toEqual([
      { sender: 'human', message: 'I am Ada.' },
      { sender: 'ai', message: 'Hello, Ada.' },
      { sender: 'human', message: 'Who am I?' },
      { sender: 'ai', message: 'You are Ada.' },
    ]);
    await conversations.delete(id);
    await expect(conversations.get(id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });

  test('invoke runs the agent without a message, and a message of the AI is stored as given or written by the model', async () => {
    await using desk = await openDesk(['Any questions?', 'Then good night.']);
    const { chat, conversations } = desk.client;
    const { context_id } = await chat.addAiMessage({ message: 'Good evening.' });
    expect((await chat.invoke({ context_id })).response).toBe('Any questions?');
    expect((await chat.addAiMessage({ context_id, prompt: 'Say good night.' })).response).toBe('Then good night.');
    const { messages } = await conversations.get(context_id);
    expect(messages.map((one) => 'message' in one && one.message)).toEqual([
      'Good evening.',
      'Any questions?',
      'Then good night.',
    ]);
  });

  test('stream yields the events of the run as they happen, and the answer last', async () => {
    await using desk = await openDesk([call('wait'), 'It is done.']);
    desk.openGate();
    const events = await all(desk.client.chat.stream({ message: 'Wait a moment.' }));
    const types = events.map(({ type }) => type);
    expect(types[0]).toBe('run.start');
    expect(types).toEqual(expect.arrayContaining(['step.start', 'tool-call.complete', 'text.delta', 'run.end']));
    expect(types.filter((type) => type === 'done')).toEqual(['done']);
    expect(events.at(-1)).toMatchObject({ type: 'done', response: 'It is done.', stop: { reason: 'end_turn' } });
    const text = events.flatMap((event) => (event.type === 'text.delta' ? [event.delta] : []));
    expect(text.join('')).toBe('It is done.');
  });

  test('a run that does not complete rejects with its code and what it did, streamed or not', async () => {
    await using desk = await openDesk(Array(8).fill('I do not know.'));
    const { chat } = desk.client;
    const request = {
      message: 'Close the books.',
      terminating_config: { tool_ids: ['complete_task'], consecutive_nudges: 1 },
    };
    const failure = {
      code: 'max_consecutive_nudges_exceeded',
      details: { run_id: expect.any(String), stop: { reason: 'max_nudges' }, generated_messages: expect.any(Array) },
    };
    await expect(chat.send(request)).rejects.toMatchObject({ ...failure, status: 422 });
    const events: ChatEvent[] = [];
    const streaming = (async () => {
      for await (const event of chat.stream(request)) events.push(event);
    })();
    await expect(streaming).rejects.toMatchObject(failure);
    await expect(streaming).rejects.toBeInstanceOf(ClientError);
    expect(events.map(({ type }) => type)).toContain('nudge');
    await expect(all(chat.stream({ agent: 'Nobody', message: 'Hello.' }))).rejects.toMatchObject({ status: 404 });
  });

  test('[S10] a stream continues after cut connections: one run, and each of its events once', async () => {
    await using desk = await openDesk([call('wait'), 'It is done.']);
    await using proxy = await startRoughProxy(Number(new URL(desk.gateway.url).port));
    // Cuts the first response in its headers, and the second in its events.
    const limits = [300, 1_000];
    proxy.cutAfter(() => limits.shift() ?? Number.POSITIVE_INFINITY);
    const rough = createClient({
      url: proxy.url,
      auth: { key: desk.gateway.secretKey },
      backoff: { firstMs: 5, maxMs: 50 },
    });
    const states: string[] = [];
    const onConnection = (state: string) => {
      states.push(state);
      if (proxy.connections === 3 && state === 'live') desk.openGate();
    };
    const events = await all(rough.chat.stream({ message: 'Wait a moment.' }, { onConnection }));
    expect(states).toEqual(['connecting', 'waiting', 'live', 'waiting', 'live']);
    expect(events.at(-1)).toMatchObject({ type: 'done', response: 'It is done.' });
    const { items } = await desk.client.runs.list();
    expect(items).toHaveLength(1);
    const told = events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(told).toEqual(told.map((_, index) => index + 1));
  });

  test('a request with the same key runs nothing again, and its stream continues after the last event', async () => {
    await using desk = await openDesk([call('wait'), 'It is done.']);
    const { chat } = desk.client;
    const request = { message: 'Wait a moment.' };
    const seen: ChatEvent[] = [];
    // Like a page that is closed in the middle.
    for await (const event of chat.stream(request, { idempotencyKey: 'mine' })) {
      seen.push(event);
      if (event.type === 'tool-call.start') break;
    }
    const after = seen.at(-1)?.seq;
    const onConnection = (state: string) => void (state === 'live' && desk.openGate());
    const rest = all(chat.stream(request, { idempotencyKey: 'mine', after, onConnection }));
    const sent = chat.send(request, { idempotencyKey: 'mine' });
    expect((await rest)[0]?.seq).toBe((after ?? 0) + 1);
    expect((await rest).at(-1)).toEqual({ type: 'done', ...(await sent) });
    expect(desk.model.requests).toHaveLength(2);
    await expect(chat.send({ message: 'Another.' }, { idempotencyKey: 'mine' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  test('an aborted signal stops the waiting, and the run goes on', async () => {
    await using desk = await openDesk([call('wait'), 'It is done.']);
    const { chat, runs } = desk.client;
    const request = { message: 'Wait a moment.' };
    const abort = new AbortController();
    const events = chat.stream(request, { idempotencyKey: 'mine', signal: abort.signal });
    const seen: string[] = [];
    for await (const { type } of events) {
      seen.push(type);
      if (type === 'tool-call.start') abort.abort();
    }
    expect(seen.at(-1)).toBe('tool-call.start');
    const abortSend = new AbortController();
    const sending = chat.send(request, { idempotencyKey: 'mine', signal: abortSend.signal });
    abortSend.abort(new Error('Enough.'));
    await expect(sending).rejects.toThrow('Enough.');
    const [run] = (await runs.list()).items;
    expect(run?.status).toBe('running');
    desk.openGate();
    expect((await chat.send(request, { idempotencyKey: 'mine' })).response).toBe('It is done.');
  });
});
