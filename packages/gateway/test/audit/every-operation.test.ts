import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeMcpServer } from '../mcp-server/mcp-client.ts';
import { openStage } from '../rights/stage.ts';
import { TABLE } from '../rights/table.ts';
import { forAllTests } from '../support/for-all-tests.ts';

/** They change nothing that is audited: see docs/audit.md. */
const WITHOUT_ENTRY: ReadonlySet<string> = new Set([
  'POST /api/spaces/{id}/seen',
  'POST /api/jobs/{callId}/heartbeat',
  'POST /mcp',
  'DELETE /mcp',
  // The response of the table has ended, so nothing is cancelled.
  'POST /v1/responses/{id}/cancel',
]);

describe('[O11] operations with entries', () => {
  const stage = forAllTests(openStage);

  test.each(Object.entries(TABLE))('[O11] %s has one entry if it changes something', async (operation, row) => {
    const [method = '', template = ''] = operation.split(' ');
    const caller = row.rights.admin === 'ok' ? 'admin' : 'operator';
    const { path = template, body, headers = {} } = await row.request(stage, caller);
    const credentials = await stage.credentials(caller);
    const entries = async () =>
      await stage.api.store.db.selectFrom('audit').selectAll().orderBy('id', 'desc').execute();
    const before = (await entries()).length;
    const leaving = new AbortController();
    const answer = await fetch(`${stage.url}${path}`, {
      method,
      signal: leaving.signal,
      headers: { ...credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.headers.get('content-type') === 'text/event-stream') leaving.abort();
    else await answer.text();
    const after = await entries();
    const isEntry = method !== 'GET' && !WITHOUT_ENTRY.has(operation) && answer.ok;
    expect(after.length - before, `${operation}: ${answer.status}`).toBe(isEntry ? 1 : 0);
    if (!isEntry) return;
    const names = [method.toLowerCase(), ...template.split(/\W+/).filter((part) => part !== '' && part !== 'api')];
    expect(after[0]).toMatchObject({
      action: names.join('_'),
      project_id: expect.any(String),
      request_id: answer.headers.get('x-request-id'),
      status: answer.status,
    });
    // The address of the client, which the test sets for each request.
    expect(after[0]?.address).toMatch(/\d/);
    if (operation !== 'POST /api/demo/crash') expect(after[0]?.subject_id).toEqual(expect.any(String));
  });
});

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

describeMcpServer('the audit of the MCP server', ({ start, connect }) => {
  test('[O11] a call over MCP has an entry with the key and the address, and a list has none', async () => {
    const gateway = await start({ tools: { add } });
    const client = await connect(gateway, { era: '2026' });
    const entries = async () => (await gateway.api('/api/audit')).items;
    const before = (await entries()).length;
    await client.listTools();
    expect(await entries()).toHaveLength(before);
    await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    const after = await entries();
    expect(after).toHaveLength(before + 1);
    expect(after[0]).toMatchObject({
      action: 'post_mcp',
      subject: { kind: 'conversation', id: expect.any(String) },
      actor: { keyId: expect.any(String) },
      address: expect.stringMatching(/127\.0\.0\.1|::1/),
      requestId: expect.any(String),
    });
  });
});
