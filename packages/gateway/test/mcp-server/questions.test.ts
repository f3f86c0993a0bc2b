import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startModernServer } from '../mcp/modern-server.ts';
import { type Asked, ask, describeMcpServer, resume, textOf } from './mcp-client.ts';

const yes = z.object({ sure: z.boolean() });

/** A server of 2026 that asks before it deletes a file, and then once more before it deletes the backup. */
async function startDeletingServer() {
  const deleted: string[] = [];
  const site = await startModernServer(() => {
    const server = new McpServer({ name: 'disk', version: '1' });
    const question = (message: string, requestState: string) =>
      inputRequired({ inputRequests: { q: inputRequired.elicit({ message, requestedSchema: yes }) }, requestState });
    server.registerTool('delete', { inputSchema: z.object({}) }, (_input, { mcpReq }) => {
      const state = mcpReq.requestState();
      if (state === undefined) return question('Delete the file?\u202e', 'file');
      deleted.push(String(state));
      if (state === 'file') return question('Delete the backup too?', 'backup');
      return { content: [{ type: 'text', text: 'All gone.' }] };
    });
    return server;
  });
  return { site, deleted };
}

const asking = {
  era: '2026' as const,
  capabilities: { elicitation: { form: {} } },
  inputRequired: { autoFulfill: false },
};

const messagesOf = ({ inputRequests }: Asked) =>
  Object.values(inputRequests as Record<string, { params: { message: string } }>).map(({ params }) => params.message);

/** The call again, with the same answer to each question. */
const answered = (
  call: { name: string; arguments: Record<string, unknown> },
  content: object,
  { requestState, inputRequests }: Asked,
) => ({
  ...call,
  requestState,
  inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content }])),
});

describeMcpServer('questions that calls ask people', ({ start, connect }) => {
  async function startKeeper({ url, host }: { url: string; host: string }) {
    const model = scriptedModel([[{ toolName: 'disk__delete', input: {} }], 'Done.']);
    const servers = [{ name: 'disk', transport: 'http' as const, url }];
    const agents = [{ name: 'Keeper', instructions: '', mcp: { servers } }];
    return await start({ model, agents, egress: { allow: [host] } });
  }
  const call = { name: 'ask_keeper', arguments: { message: 'Clean up.' } };
  test('[X19] a client is asked the question of the server, and an answer that is sent twice does not answer the next one', async () => {
    const { site, deleted } = await startDeletingServer();
    await using _site = site;
    const client = await connect(await startKeeper(site), asking);
    const sure = (asked: Asked) => answered(call, { sure: true }, asked);
    const first = await ask(client, call);
    expect(messagesOf(first)).toEqual(['"disk__delete" with {} asks: Delete the file?\\u202e']);
    const second = (await resume(client, sure(first))) as Asked;
    expect(messagesOf(second)).toEqual(['"disk__delete" with {} asks: Delete the backup too?']);
    const again = (await resume(client, sure(first))) as Asked;
    expect(again.resultType).toBe('input_required');
    expect(deleted).toEqual(['file']);
    expect(textOf(await resume(client, sure(again)))).toContain('Done.');
    expect(deleted).toEqual(['file', 'backup']);
  });

  test('[X19] a client that cannot be asked reads the question of the server', async () => {
    const { site } = await startDeletingServer();
    await using _site = site;
    const client = await connect(await startKeeper(site), { era: '2026' });
    expect(textOf(await client.callTool(call))).toContain('asks "Delete the file?');
  });

  test('[X19] a client is shown each call that a sub-agent wants to make, and approves only that one', async () => {
    const paid: string[] = [];
    const pay = tool({
      description: 'Pays somebody.',
      inputSchema: z.object({ to: z.string() }),
      approval: true,
      execute: ({ to }) => `Paid ${paid.push(to)} in all.`,
    });
    const helper = {
      executionType: 'internal' as const,
      description: 'Pays bills.',
      execution: { agentConfig: { instructions: 'Pay.', tools: ['pay'] } },
    };
    const model = scriptedModel([
      [{ toolName: 'pay', input: { to: 'Ada' } }],
      [{ toolName: 'pay', input: { to: 'Eve' } }],
      'All paid.',
    ]);
    const client = await connect(await start({ model, tools: { pay, helper } }), asking);
    const help = { name: 'helper', arguments: {} };
    const first = await ask(client, help);
    expect(messagesOf(first)).toEqual(['"helper" with {} asks: A sub-agent wants to call pay {"to":"Ada"}. May it?']);
    const approve = answered(help, { approve: true }, first);
    for (const second of [await resume(client, approve), await resume(client, approve)])
      expect(messagesOf(second as Asked)[0]).toContain('{"to":"Eve"}. May it?');
    expect(paid).toEqual(['Ada']);
  });
});
