import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { forEachTest } from '../support/for-all-tests.ts';
import { embedded } from '../support/stores.ts';
import { startWebSite } from '../support/web-site.ts';
import { startRegistryGateway } from './registry-gateway.ts';

const LARGE = 'x'.repeat(5_000);

describe.each(embedded)('the size limit of results on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('results of every kind of tool are cut at their limit, with a reference to the whole, and an answer over its own limit is refused', async () => {
    await using site = await startWebSite((_request, response) => response.end(LARGE));
    const execution = { url: site.url };
    await using gateway = await startRegistryGateway(database, {
      egress: { allow: [site.host] },
      tuning: { outputBytes: 1_000, resultBytes: 1_000 },
      tools: {
        code: tool({ description: 'Code.', inputSchema: z.object({}), execute: () => LARGE }),
        failing: tool({
          description: 'Fails.',
          inputSchema: z.object({}),
          execute: () => {
            throw new Error(LARGE);
          },
        }),
        file_http: { executionType: 'gateway', execution },
        hook: { executionType: 'external', execution: { webhookUrl: site.url } },
        fixed: { executionType: 'internal', execution: { value: LARGE } },
        cached: { executionType: 'internal', execution: { value: LARGE }, middleware: [{ cache: { ttlMs: 60_000 } }] },
        waiting: { executionType: 'external', visible: false },
      },
    });
    await gateway.api('/api/tools', { name: 'registered', executionType: 'gateway', execution });
    const inline = { name: 'inline', executionType: 'internal', execution };
    const names = ['code', 'failing', 'file_http', 'hook', 'fixed', 'cached', 'registered', 'inline'];
    const tools = [...names.slice(0, -1), 'waiting', inline];
    const { id } = await gateway.api('/api/agents', { name: 'Bot', instructions: '', tools });
    gateway.calls = [...names, 'cached', 'waiting'].map((toolName) => ({ toolName, input: {} }));
    const ended = await gateway.runTurnLoop(id);
    const waiting = ended.find(({ toolName }) => toolName === 'waiting');
    const cut = ended.filter(({ toolName }) => toolName !== 'waiting');
    // Those without effects run at the same time.
    expect(cut.map(({ toolName }) => toolName).sort()).toEqual([...names, 'cached'].sort());
    for (const { toolName, callId, outcome } of cut) {
      expect([toolName, outcome.text]).toEqual([
        toolName,
        expect.stringContaining(`The full output is stored as ${callId}`),
      ]);
      expect([toolName, JSON.stringify(outcome).length < 4_000]).toEqual([toolName, true]);
    }
    const answer = (result: string): Promise<Response> =>
      gateway.request(`/api/runs/${waiting?.runId}/tool-results`, { callId: waiting?.callId, result });
    expect((await answer(LARGE)).status).toBe(413);
    expect((await answer('small')).status).toBe(200);
  });
});
