import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { ClientOptions } from 'openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { startTcpProxy } from '../processes/tcp-proxy.ts';
import { databases } from '../support/stores.ts';
import { describeOpenAi, type OpenAiGateway } from './openai-gateway.ts';

const call = (toolName: string, input: object) => ({ toolName, input });
const user = (content: string) => ({ role: 'user' as const, content });

/** A tool whose effects are counted. Each call waits until the test releases it. */
function chargeTool() {
  const began = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const counted = { charges: 0 };
  const charge = tool({
    description: 'Charges somebody. Must not happen twice.',
    inputSchema: z.object({}),
    async execute() {
      counted.charges++;
      began.resolve();
      await gate.promise;
      return 'charged';
    },
  });
  return { charge, counted, began: began.promise, release: () => gate.resolve() };
}

const chargeOnce = () => scriptedModel([[call('charge', {})], 'It is paid.']);

/**
 * Sends a request as the client does, without its own retries. On a busy machine this process may pause in a transaction for so long
 * that PostgreSQL ends it. The gateway then answers that nothing was changed, and the request is sent again as it was.
 */
async function post({ url }: OpenAiGateway, key: string, body: object, headers: Record<string, string> = {}) {
  for (;;) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (response.status !== 503 || !(await response.clone().text()).includes('Nothing was changed')) return response;
  }
}

async function idOf(response: Promise<Response>): Promise<string> {
  const body = (await (await response).json()) as { id: string };
  // Otherwise an error would count as a response without an id.
  expect(body).toMatchObject({ id: expect.any(String) });
  return body.id;
}

describeOpenAi(
  'retries',
  (open) => {
    test.each([{ door: 'chat' }, { door: 'responses' }])(
      '[S11] a client whose connection breaks retries by itself, and nothing runs twice ($door)',
      async ({ door }) => {
        const { charge, counted, began, release } = chargeTool();
        const model = chargeOnce();
        const gateway = await open({ models: { default: model }, tools: { charge } });
        const agent = await gateway.world.agent('Payer', { tools: ['charge'] });
        await using proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) });
        const client = gateway.clientWith({ baseURL: `http://127.0.0.1:${proxy.port}/v1` });
        const answer =
          door === 'chat'
            ? client.chat.completions
                .create({ model: agent, messages: [user('Pay.')] })
                .then(({ choices }) => choices[0]?.message.content)
            : client.responses.create({ model: agent, input: 'Pay.' }).then(({ output_text }) => output_text);
        await began;
        proxy.cut();
        proxy.mend();
        release();
        expect(await answer).toBe('It is paid.');
        await gateway.world.idle();
        expect(counted.charges).toBe(1);
        expect(model.requests).toHaveLength(2);
      },
    );

    test('[S11] a stream that breaks is requested again with its key, and nothing runs twice', async () => {
      const { charge, counted, began, release } = chargeTool();
      const gateway = await open({ models: { default: chargeOnce() }, tools: { charge } });
      const agent = await gateway.world.agent('Payer', { tools: ['charge'] });
      await using proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) });
      const client = gateway.clientWith({ baseURL: `http://127.0.0.1:${proxy.port}/v1` });
      const ask = (): Promise<string | null> =>
        client.chat.completions
          .stream({ model: agent, messages: [user('Pay.')] }, { headers: { 'Idempotency-Key': 'the-one' } })
          .finalContent();
      const broken = ask();
      broken.catch(() => {});
      await began;
      proxy.cut();
      await expect(broken).rejects.toThrow();
      proxy.mend();
      const again = ask();
      release();
      expect(await again).toBe('It is paid.');
      expect(await ask()).toBe('It is paid.');
      expect(counted.charges).toBe(1);
    });

    test('[S11] attempts that arrive while another one is being stored get its run', async () => {
      const model = scriptedModel(() => 'Once.');
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const key = await gateway.keyWith('write');
      const body = { model: agent, messages: [user('Hi')] };
      const attempts = Array.from({ length: 6 }, (_, attempt) =>
        idOf(post(gateway, key, body, { 'x-stainless-retry-count': String(attempt + 1) })),
      );
      expect(new Set(await Promise.all(attempts)).size).toBe(1);
      expect(model.requests).toHaveLength(1);
    });

    test('equal requests that are not retries have different runs', async () => {
      const model = scriptedModel(() => 'Hello.');
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const key = await gateway.keyWith('write');
      const body = { model: agent, messages: [user('Hi')] };
      const ids = await Promise.all(Array.from({ length: 5 }, () => idOf(post(gateway, key, body))));
      expect(new Set(ids).size).toBe(5);
      // A retry gets one of them, and a retry of another caller gets none.
      expect(ids).toContain(await idOf(post(gateway, key, body, { 'x-stainless-retry-count': '1' })));
      const other = await gateway.keyWith('write');
      expect(ids).not.toContain(await idOf(post(gateway, other, body, { 'x-stainless-retry-count': '1' })));
      expect(model.requests).toHaveLength(6);
    });

    test('with a repeated key the same request gets the first answer, and another request is refused', async () => {
      const model = scriptedModel(() => 'Hello.');
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const options = { headers: { 'Idempotency-Key': 'k-1' } };
      const ask = (text: string) =>
        gateway.client.chat.completions.create({ model: agent, messages: [user(text)] }, options);
      const first = await ask('Hi');
      expect((await ask('Hi')).id).toBe(first.id);
      await expect(ask('Ho')).rejects.toMatchObject({ status: 400, code: 'idempotency_key_reused' });
      expect(model.requests).toHaveLength(1);
    });

    test('[S11] a key counts only for its caller: another caller with the same key gets a different run', async () => {
      const model = scriptedModel(() => 'Hello.');
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const callers = [await gateway.keyWith('write'), await gateway.keyWith('write'), await gateway.keyWith('write')];
      const headers = { 'idempotency-key': 'k-2' };
      const ask = (key: string | undefined, text: string) =>
        idOf(post(gateway, key ?? '', { model: agent, messages: [user(text)] }, headers));
      const [one, two, three] = callers;
      const ids = [await ask(one, 'Hi'), await ask(two, 'Hi'), await ask(three, 'Ho')];
      expect(new Set(ids).size).toBe(3);
      expect([await ask(one, 'Hi'), await ask(two, 'Hi'), await ask(three, 'Ho')]).toEqual(ids);
      expect(model.requests).toHaveLength(3);
    });

    test('[S11] a retry without a key gets the first answer for an hour, and starts a new run after that', async () => {
      const model = scriptedModel(() => 'Hello.');
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const key = await gateway.keyWith('write');
      const ask = (headers: Record<string, string> = {}) =>
        idOf(post(gateway, key, { model: agent, messages: [user('Hi')] }, headers));
      const age = (minutes: number) =>
        gateway.world.in(({ db, now }) =>
          db
            .updateTable('turn_requests')
            .set({ created_at: now() - minutes * 60_000 })
            .where('context_id', 'in', (eb) =>
              eb.selectFrom('threads').select('threads.id').where('threads.agent_id', '=', agent),
            )
            .execute(),
        );
      const first = await ask();
      await age(59);
      expect(await ask({ 'x-stainless-retry-count': '1' })).toBe(first);
      await age(61);
      const second = await ask({ 'x-stainless-retry-count': '1' });
      expect(second).not.toBe(first);
      expect(await ask({ 'x-stainless-retry-count': '2' })).toBe(second);
      expect(model.requests).toHaveLength(2);
    });

    test.each([
      ['with a key', { 'idempotency-key': 'renamed' }, { 'idempotency-key': 'renamed' }],
      ['without a key', {}, { 'x-stainless-retry-count': '1' }],
    ])(
      '[S11] a retry %s gets the first answer also after its agent was renamed or paused',
      async (_how, first, again) => {
        const model = scriptedModel(() => 'Hello.');
        const gateway = await open({ models: { default: model } });
        const agent = await gateway.world.agent(`Clerk ${_how}`);
        const key = await gateway.keyWith('write');
        const body = { model: `Clerk ${_how}`, messages: [user('Hi')] };
        const id = await idOf(post(gateway, key, body, first));
        await gateway.world.in((tx) =>
          tx.db.updateTable('agents').set({ name: 'Bookkeeper', status: 'paused' }).where('id', '=', agent).execute(),
        );
        expect(await idOf(post(gateway, key, body, again))).toBe(id);
        expect(model.requests).toHaveLength(1);
        const changed = { ...body, messages: [user('Ho')] };
        expect((await post(gateway, key, changed, again)).status).toBe('idempotency-key' in again ? 400 : 404);
      },
    );

    test('Open WebUI sends the id of the reply that it wants, and gets one run for it', async () => {
      const model = scriptedModel(() => 'Hello.');
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const key = await gateway.keyWith('write');
      const body = { model: agent, messages: [user('Hi')] };
      const ask = (reply: string) =>
        idOf(post(gateway, key, body, { 'x-openwebui-chat-id': 'chat', 'x-openwebui-message-id': reply }));
      const first = await ask('reply-1');
      expect(await ask('reply-1')).toBe(first);
      expect(await ask('reply-2')).not.toBe(first);
    });

    test('a run that failed is not retried by the client', async () => {
      const model = scriptedModel(() => new Error('The provider is gone.'));
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      let sent = 0;
      const counting: ClientOptions['fetch'] = (input, init) => {
        sent++;
        return fetch(input as string, init as RequestInit);
      };
      const client = gateway.clientWith({ fetch: counting });
      const asked = client.chat.completions.create({ model: agent, messages: [user('Hi')] });
      await expect(asked).rejects.toMatchObject({ status: 400, code: 'run_failed', type: 'server_error' });
      expect(sent).toBe(1);
    });

    // The AI SDK and LangChain send the same request again after 409 and 5xx, and do not say that they do.
    test('[S11] a run that failed or was cancelled is answered with a status after which no client repeats the request', async () => {
      const asked = Promise.withResolvers<void>();
      const model = scriptedModel(async ({ prompt, abortSignal }) => {
        if (!JSON.stringify(prompt).includes('Wait.')) throw new Error('The provider is gone.');
        asked.resolve();
        return await new Promise<string>((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
        });
      });
      const gateway = await open({ models: { default: model } });
      const agent = await gateway.world.agent();
      const key = await gateway.keyWith('write');
      const ask = async (content: string) => {
        const response = await post(gateway, key, { model: agent, messages: [user(content)] });
        return { status: response.status, ...((await response.json()) as object) };
      };
      expect(await ask('Pay.')).toMatchObject({ status: 400, error: { code: 'run_failed', type: 'server_error' } });
      const waiting = ask('Wait.');
      await asked.promise;
      await gateway.world.in(async (tx) => {
        const running = tx.db.selectFrom('runs').innerJoin('threads', 'threads.id', 'runs.thread_id');
        const [run] = await running
          .select('runs.id')
          .where('agent_id', '=', agent)
          .where('status', '=', 'running')
          .execute();
        await requestCancel(tx, run?.id ?? '');
      });
      expect(await waiting).toMatchObject({ status: 400, error: { code: 'run_cancelled' } });
    });
  },
  databases,
);
