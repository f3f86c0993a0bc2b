import { tool } from '@lastcall/core';
import { charter, node } from '@lastcall/machines';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions, waitFor } from '../../src/testing/index.ts';
import { setState, startMcpAgent, stdioServer } from '../mcp/mcp-agent.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { pays, says } from './office.ts';

const inputSchema = z.object({ amount: z.number() });
const agents = [{ name: 'Clerk', instructions: 'Pay.', tools: ['pay'] }];
const { next, model } = says();

/** Sends a message in a new conversation, in which the agent pays. */
async function pay({ api }: TestGateway, { key }: { key?: string | undefined } = {}) {
  next.push(pays({ amount: 5 }));
  const said = await api('/api/chat', { agent: 'Clerk', message: 'Pay.' }, { key });
  const [asked] = said.pending_calls ?? [];
  return { runId: said.run_id as string, contextId: said.context_id as string, callId: asked?.tool_call_id };
}

async function grant(
  gateway: TestGateway,
  { key, length = 'always' }: { key?: string | undefined; length?: string } = {},
) {
  const { runId, callId, contextId } = await pay(gateway, { key });
  expect(callId).toBeDefined();
  const body = { callId, approve: true, grant: { for: length } };
  const { grantId, runId: after } = await gateway.api(`/api/runs/${runId}/tool-results`, body, { key });
  // The run after the answer asks the model too, and must not consume the next script.
  await waitFor(async () => (await gateway.api(`/api/runs/${after}`)).status === 'completed');
  expect(grantId).toBeDefined();
  return { grantId: grantId as string, contextId };
}

const isCovered = async (gateway: TestGateway) => (await pay(gateway)).callId === undefined;

async function inHome(home: string, options: TestGatewayOptions, work: (gateway: TestGateway) => Promise<void>) {
  await using gateway = await startTestGateway({ model, home, ...options });
  await work(gateway);
}

const coded = (execute: () => string) => ({
  agents,
  tools: { pay: tool({ description: 'Pays.', inputSchema, approval: true, execute }) },
});

const machine = (description: string) => ({
  agents: [{ name: 'Clerk', definition: 'desk' }],
  definitions: {
    desk: defineAgent({
      machine: charter({
        nodes: {
          main: node({
            instructions: 'Pay.',
            tools: { pay: tool({ description, inputSchema, approval: true, execute: () => 'Paid.' }) },
          }),
        },
      }),
    }),
  },
});

describe('the tools that a grant covers', () => {
  test('[O9] a tool in TypeScript is covered after a restart, and not if its own code has changed', async () => {
    const home = await scratchFolder('grants');
    await inHome(
      home,
      coded(() => 'Paid.'),
      async (gateway) => {
        await grant(gateway);
        expect(await isCovered(gateway)).toBe(true);
      },
    );
    await inHome(
      home,
      coded(() => 'Paid.'),
      async (gateway) => expect(await isCovered(gateway)).toBe(true),
    );
    await inHome(
      home,
      coded(() => 'Paid twice.'),
      async (gateway) => {
        expect(await isCovered(gateway)).toBe(false);
        expect((await gateway.api('/api/grants')).items).toMatchObject([{ endReason: 'tool_changed' }]);
      },
    );
  });

  test('[O9] a tool of a machine’s node is covered, and not if the node has another one', async () => {
    const home = await scratchFolder('grants');
    await inHome(home, machine('Pays.'), async (gateway) => {
      await grant(gateway);
      expect(await isCovered(gateway)).toBe(true);
    });
    await inHome(home, machine('Pays, and tips.'), async (gateway) => expect(await isCovered(gateway)).toBe(false));
  });

  test('[O9] a grant of a conversation’s owner covers no conversation of another person', async () => {
    await using gateway = await startTestGateway({ model, ...coded(() => 'Paid.') });
    const person = async (displayName: string) => {
      const { id } = await gateway.api('/api/entities', { kind: 'human', displayName });
      return (await gateway.api(`/api/entities/${id}/token`, {})).token as string;
    };
    const [clerk] = (await gateway.api('/api/agents')).items;
    const { id: space } = await gateway.api('/api/spaces', { name: 'Shop' });
    await gateway.api(`/api/spaces/${space}/members`, { entityId: clerk.entityId });
    const keys = [await person('Ada'), await person('Ben')];
    const { items } = await gateway.api('/api/entities?kind=human');
    for (const { id } of items) await gateway.api(`/api/spaces/${space}/members`, { entityId: id });
    const [ada, ben] = keys as [string, string];
    const { contextId } = await grant(gateway, { key: ada, length: 'hour' });
    expect((await pay(gateway, { key: ben })).callId).toBeDefined();
    next.push(pays({ amount: 6 }));
    const again = await gateway.api('/api/chat', { context_id: contextId, message: 'Pay.' }, { key: ada });
    expect(again.pending_calls ?? []).toEqual([]);
  });

  test('[O9] a tool of an MCP server is covered until the server changes its definition', async () => {
    const { server, files } = await stdioServer({ tools: { echo: { approval: true } } });
    await using agent = await startMcpAgent([server]);
    const echo = [{ toolName: 'local__echo', input: { text: 'paid' } }];
    const first = await agent.run(echo);
    expect(first.settled[0]?.outcome.status).toBe('pending');
    const [{ callId, runId }] = (await agent.gateway.api('/api/pending')).items;
    const body = { callId, approve: true, grant: { for: 'always' } };
    const { grantId, runId: after } = await agent.gateway.api(`/api/runs/${runId}/tool-results`, body);
    await waitFor(async () => (await agent.gateway.api(`/api/runs/${after}`)).status === 'completed');
    const covered = await agent.run(echo);
    expect(covered.settled[0]?.outcome.status).toBe('ok');
    expect(await agent.gateway.api(`/api/grants/${grantId}`)).toMatchObject({ uses: 1 });
    await setState(files, { description: 'Pays.' });
    const changed = await agent.run(echo);
    expect(changed.settled[0]?.outcome.status).not.toBe('ok');
    expect(await agent.gateway.api(`/api/grants/${grantId}`)).toMatchObject({ uses: 1 });
  });

  test('[O9] a question of a sub-agent cannot be answered with a grant', async () => {
    const helper = {
      executionType: 'internal' as const,
      description: 'Pays.',
      inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
      execution: { agentConfig: { instructions: 'Pay.', tools: ['send'] } },
    };
    const send = tool({ description: 'Sends.', inputSchema, approval: true, execute: () => 'Sent.' });
    await using gateway = await startTestGateway({ model, agents, tools: { pay: helper, send } });
    next.push(pays({ amount: 5 }), [{ toolName: 'send', input: { amount: 5 } }]);
    const { run_id, pending_calls } = await gateway.api('/api/chat', { agent: 'Clerk', message: 'Pay.' });
    const answer = (given: object) =>
      gateway.request(`/api/runs/${run_id}/tool-results`, { callId: pending_calls[0].tool_call_id, ...given });
    expect((await answer({ approve: true, grant: { for: 'always' } })).status).toBe(422);
    expect((await answer({ result: { approve: true } })).status).toBe(200);
  });
});
