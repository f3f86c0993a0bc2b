import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fixedTool } from '../chat/chat-api.ts';
import { describeMcpServer, textOf } from '../mcp-server/mcp-client.ts';

const shared = tool({ description: 'For all.', inputSchema: z.object({}), effects: 'none', execute: () => 'shared' });

describeMcpServer('the MCP server keeps projects apart', ({ start, connect }) => {
  test('[O1] a client with a key of a project finds the tools and agents of that project, and calls no others', async () => {
    const gateway = await start({ tools: { shared } });
    await gateway.api('/api/projects', { id: 'acme' });
    const { key } = await gateway.api('/api/keys', { name: 'k', scopes: ['admin'], project: 'acme' });
    await gateway.api('/api/agents', { name: 'Ours', instructions: 'Help.' });
    await gateway.api('/api/tools', fixedTool('ours', 'ours'));
    await gateway.api('/api/agents', { name: 'Theirs', instructions: 'Help.' }, { key });
    await gateway.api('/api/tools', fixedTool('theirs', 'theirs'), { key });
    const client = await connect(gateway, { era: '2026', key });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['ask_theirs', 'get_run', 'shared', 'theirs']);
    const called = await client.callTool({ name: 'theirs', arguments: {} });
    expect(textOf(called)).toContain('theirs');
    await expect(client.callTool({ name: 'ours', arguments: {} })).rejects.toThrow('Unknown tool');
    await expect(client.callTool({ name: 'ask_ours', arguments: { message: 'Hi.' } })).rejects.toThrow('Unknown tool');
    const { items: runs } = await gateway.api('/api/runs', undefined, { key });
    expect(runs).toHaveLength(1);
    const own = await connect(gateway, { era: '2026' });
    const ownTools = (await own.listTools()).tools.map(({ name }) => name);
    expect(ownTools).toEqual(expect.arrayContaining(['ask_ours', 'ours', 'shared']));
    expect(ownTools).not.toContain('theirs');
  });
});
