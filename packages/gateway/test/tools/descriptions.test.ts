import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

test('[T2] descriptions reach the model up to their limits: 1,024 characters in TypeScript, 4,096 in data, from the file and over the API', async () => {
  const description = 'x'.repeat(4_096);
  const kinds = {
    asks: { executionType: 'space' },
    fixed: { executionType: 'internal', execution: { value: 1 } },
    fetches: { executionType: 'gateway', execution: { url: 'https://shop.example.com/' } },
    thinks: { executionType: 'gateway', execution: { agentConfig: { name: 'sub', instructions: '' } } },
  } as const;
  const data = Object.entries(kinds).map(([name, kind]) => [name, { ...kind, description }] as const);
  const written = tool({ description: 'x'.repeat(1_024), inputSchema: z.object({}), execute: () => 1 });
  const model = scriptedModel(['Noted.']);
  await using gateway = await startTestGateway({ model, tools: { written, ...Object.fromEntries(data) } });
  const tools = ['written', ...Object.keys(kinds)];
  for (const [name, one] of data) {
    const { body, status } = await post(gateway, { name: `api_${name}`, ...one });
    expect([status, body.description]).toEqual([201, description]);
    tools.push(`api_${name}`);
  }
  expect(await post(gateway, { name: 'long', ...kinds.asks, description: `${description}x` })).toMatchObject({
    status: 422,
    body: { error: { message: expect.stringContaining('description must be 1–4096 characters') } },
  });
  const { id } = await gateway.api('/api/agents', { name: 'Watcher', instructions: 'Watch.', tools });
  await gateway.api(`/api/agents/${id}/events`, { source: 'shop', name: 'opened' });
  const request = await waitFor(() => model.requests[0]);
  const told = (request.tools ?? []).filter(({ name }) => tools.includes(name));
  expect(told.map((one) => [one.name, one.type === 'function' && one.description?.length])).toEqual(
    tools.map((name) => [name, name === 'written' ? 1_024 : 4_096]),
  );
});

async function post(
  gateway: Awaited<ReturnType<typeof startTestGateway>>,
  one: object,
): Promise<{ status: number; body: { description?: string } }> {
  const response = await gateway.request('/api/tools', one);
  return { status: response.status, body: (await response.json()) as { description?: string } };
}
