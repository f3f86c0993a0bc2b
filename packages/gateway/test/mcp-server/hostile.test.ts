import { request } from 'node:http';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TestGateway } from '../../src/testing/test-gateway.ts';
import { accept, ask, connect as connectTo, describeMcpServer, resume, textOf } from './mcp-client.ts';

function tools(paid: string[]) {
  return {
    pay: tool({
      description: 'Pays somebody.',
      inputSchema: z.object({ to: z.string() }),
      approval: true,
      execute: ({ to }) => {
        paid.push(to);
        return `Paid ${to}.`;
      },
    }),
    pay_later: tool({
      description: 'Pays somebody later.',
      inputSchema: z.object({ to: z.string() }),
      approval: true,
      execute: () => 'Later.',
    }),
  };
}

/** Leaves questions to the test. */
const byHand = {
  era: '2026',
  capabilities: { elicitation: { form: {} } },
  inputRequired: { autoFulfill: false },
} as const;

async function keyOf(gateway: TestGateway, ...scopes: string[]): Promise<string> {
  return (await gateway.api('/api/keys', { name: 'another', scopes })).key;
}

/** A request with headers that `fetch` would not send. */
async function statusOf(url: string, headers: Record<string, string>, body: object): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { method: 'POST', headers }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  sent.once('error', reject).end(JSON.stringify(body));
  return await promise;
}

describeMcpServer('the MCP server against strangers', ({ start, connect }) => {
  test('[X19] a state is refused with other arguments, for another tool, from another key, and when it is changed', async () => {
    const paid: string[] = [];
    const gateway = await start({ tools: tools(paid) });
    const client = await connect(gateway, byHand);
    const other = await connect(gateway, { ...byHand, key: await keyOf(gateway, 'write') });
    const call = { name: 'pay', arguments: { to: 'Ada' } };
    const asked = await ask(client, call);
    expect(asked.resultType).toBe('input_required');
    const again = { ...call, requestState: asked.requestState, inputResponses: accept(asked) };
    const attempts = [
      () => resume(client, { ...again, arguments: { to: 'Eve' } }),
      () => resume(client, { ...again, name: 'pay_later' }),
      () => resume(client, { ...again, requestState: `${again.requestState}x` }),
      () => resume(client, { ...again, requestState: 'v1.e30.e30' }),
      () => resume(other, again),
    ];
    const refused = { code: -32602, message: 'Invalid or expired requestState' };
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(refused);
    expect(paid).toEqual([]);
    const second = await ask(client, { name: 'pay', arguments: { to: 'Bob' } });
    const crossed = await resume(client, { ...again, inputResponses: accept(second) });
    expect(crossed).toMatchObject({ resultType: 'input_required' });
    expect(paid).toEqual([]);
    expect(textOf(await resume(client, again))).toBe('Paid Ada.');
    expect(textOf(await resume(client, again))).toBe('Paid Ada.');
    expect(paid).toEqual(['Ada']);
  });

  test('[X19] a conversation or a run of another caller does not exist', async () => {
    const model = scriptedModel(() => 'Here.');
    const agents = ['One', 'Two'].map((name) => ({ name: `Stranger ${name}`, instructions: '' }));
    const gateway = await start({ model, agents });
    const client = await connect(gateway, { era: '2026' });
    const other = await connect(gateway, { era: '2026', key: await keyOf(gateway, 'write') });
    const first = await client.callTool({ name: 'ask_stranger_one', arguments: { message: 'Hi.' } });
    const { context_id, run_id } = first.structuredContent as { context_id: string; run_id: string };
    const foreign = await client.callTool({ name: 'ask_stranger_two', arguments: { message: 'Hi.', context_id } });
    expect(foreign.isError).toBe(true);
    expect(textOf(foreign)).toContain('conversation');
    expect(textOf(await client.callTool({ name: 'get_run', arguments: { run_id } }))).toContain('Here.');
    for (const id of [run_id, 'nothing', '\u0000', '../runs'])
      expect(await other.callTool({ name: 'get_run', arguments: { run_id: id } })).toMatchObject({ isError: true });
    expect(model.requests).toHaveLength(1);
  });

  test('[X19] only a key with scope write has access', async () => {
    const gateway = await start({ tools: tools([]) });
    const entity = await gateway.api('/api/entities', { kind: 'human', displayName: 'Ada' });
    const { token } = await gateway.api(`/api/entities/${entity.id}/token`, {});
    for (const key of [await keyOf(gateway, 'read'), token, 'wrong'])
      for (const era of ['2025', '2026'] as const) await expect(connectTo(gateway, { era, key })).rejects.toThrow();
    const post = (key: string) => gateway.request('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { key });
    expect((await post(await keyOf(gateway, 'read'))).status).toBe(403);
    expect((await post(token)).status).toBe(403);
    expect((await post('wrong')).status).toBe(401);
  });

  test('[X19] a session belongs to the key that opened it, and is gone after a DELETE', async () => {
    const gateway = await start({ tools: tools([]) });
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    };
    const send = (body: object | undefined, key: string, id?: string, method = 'POST') =>
      fetch(`${gateway.url}/mcp`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(id === undefined ? {} : { 'mcp-session-id': id }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
    const opened = await send(initialize, gateway.secretKey);
    const id = opened.headers.get('mcp-session-id') ?? '';
    await opened.body?.cancel();
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    const statusWith = async (...given: Parameters<typeof send>): Promise<number> => {
      const response = await send(...given);
      await response.body?.cancel();
      return response.status;
    };
    expect(await statusWith(ping, gateway.secretKey, id)).toBe(200);
    expect(await statusWith(ping, await keyOf(gateway, 'admin'), id)).toBe(404);
    expect(await statusWith(ping, gateway.secretKey, 'of-another-gateway')).toBe(404);
    expect(await statusWith(ping, gateway.secretKey)).toBe(400);
    expect(await statusWith(undefined, gateway.secretKey, id, 'DELETE')).toBe(200);
    expect(await statusWith(ping, gateway.secretKey, id)).toBe(404);
  });

  test('[X19] a page that reaches the gateway under another host name, or from another site, is refused', async () => {
    const gateway = await start({
      tools: tools([]),
      corsOrigins: ['https://app.example.com'],
      mcpServer: { hosts: ['gateway.example.com'] },
    });
    const { host } = new URL(gateway.url);
    const status = (headers: Record<string, string>) =>
      statusOf(
        `${gateway.url}/mcp`,
        {
          authorization: `Bearer ${gateway.secretKey}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
        },
      );
    expect(await status({ host })).toBe(200);
    expect(await status({ host: 'gateway.example.com' })).toBe(200);
    expect(await status({ host: 'evil.example.com' })).toBe(403);
    expect(await status({ host: 'evil.example.com:4100' })).toBe(403);
    expect(await status({ host, origin: 'https://app.example.com' })).toBe(200);
    expect(await status({ host, origin: 'http://localhost:3000' })).toBe(200);
    expect(await status({ host, origin: 'https://evil.example.com' })).toBe(403);
    expect(await status({ host, origin: 'null' })).toBe(403);
  });

  test('[X19] arguments of ten megabytes, or nested a thousand levels deep, are refused before they are read', async () => {
    const paid: string[] = [];
    const gateway = await start({ tools: tools(paid) });
    const post = async (given: string): Promise<number> => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":${given}}}`;
      const response = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.secretKey}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body,
      });
      await response.body?.cancel();
      return response.status;
    };
    expect(await post(`{"to":"${'x'.repeat(10_000_000)}"}`)).toBe(413);
    expect(await post(`${'['.repeat(1_000)}${']'.repeat(1_000)}`)).toBe(400);
    expect(await post('{"to":')).toBe(400);
    expect(paid).toEqual([]);
  });
});
