import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeMcpServer, type Era, textOf } from './mcp-client.ts';

const ERAS: readonly Era[] = ['2025', '2026'];

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  effects: 'none',
  execute: ({ a, b }) => a + b,
});

const pixel = {
  description: 'Shows one pixel.',
  inputSchema: z.object({}),
  execute: async () => 'pixel',
  toModelOutput: () => ({
    type: 'content' as const,
    value: [
      { type: 'text' as const, text: 'One pixel.' },
      { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: 'iVBORw0KGgo=' } },
    ],
  }),
};

const broken = tool({
  description: 'Fails.',
  inputSchema: z.object({}),
  execute: () => {
    throw new Error('The disk is full.');
  },
});

describeMcpServer('the MCP server offers tools', ({ start, connect }) => {
  test('[X12] [X19] a sub-agent without a model of its own asks the default model, and so do the sub-agents that it calls', async () => {
    const sub = (instructions: string, tools: readonly string[]) => ({
      executionType: 'internal' as const,
      description: instructions,
      execution: { agentConfig: { instructions, tools } },
    });
    const model = scriptedModel([[{ toolName: 'checker', input: {} }], 'Checked.', 'Researched and checked.']);
    const tools = { researcher: sub('You research.', ['checker']), checker: sub('You check.', []) };
    const client = await connect(await start({ model, tools }), { era: '2026' });
    expect(textOf(await client.callTool({ name: 'researcher', arguments: {} }))).toBe('Researched and checked.');
    const systems = model.requests.map(({ prompt: [first] }) => first?.content);
    expect(systems).toEqual(['You research.', 'You check.', 'You research.']);
  });

  test.each(ERAS)(
    '[X19] [K13] a turn that a tool runs in a call of a client of %s asks the default model, and is counted',
    async (era) => {
      const think = tool({
        description: 'Thinks.',
        inputSchema: z.object({ about: z.string() }),
        execute: async ({ about }, ctx) => (await ctx.runTurn({ instructions: 'Think.', prompt: about })).response,
      });
      const model = { ...scriptedModel(['I have thought.']), modelId: `thinker-${era}` };
      const gateway = await start({ model, tools: { think } });
      const client = await connect(gateway, { era });
      const result = await client.callTool({ name: 'think', arguments: { about: 'Trees.' } });
      expect(textOf(result)).toBe('I have thought.');
      expect(model.requests).toHaveLength(1);
      const { items } = await gateway.api('/api/usage?by=kind,model');
      const asked = items.filter(({ model: one }: { model: string }) => one === model.modelId);
      expect(asked).toMatchObject([{ kind: 'sub-agent', requests: 1 }]);
    },
  );

  test.each(ERAS)('[X19] a client of %s lists and calls tools of the file and of the registry', async (era) => {
    const gateway = await start({ tools: { add, pixel: { tool: pixel }, broken } });
    await gateway.api('/api/tools', {
      name: `greeting_${era}`,
      description: 'Greets.',
      executionType: 'internal',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
      execution: { value: { hello: 'world' } },
    });
    const client = await connect(gateway, { era });
    const { tools } = await client.listTools();
    const named = (name: string) => tools.find((one) => one.name === name);
    expect(named('add')).toMatchObject({
      description: 'Adds two numbers.',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false },
    });
    expect(named('broken')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(named('send_message')).toBeUndefined();
    const call = (name: string, given: Record<string, unknown> = {}) => client.callTool({ name, arguments: given });
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ content: [{ type: 'text', text: '3' }] });
    expect(await call(`greeting_${era}`)).toMatchObject({ content: [{ text: '{"hello":"world"}' }] });
    expect(await call('pixel')).toMatchObject({
      content: [
        { type: 'text', text: 'One pixel.' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      ],
    });
    const failed = await call('broken');
    expect(failed).toMatchObject({ isError: true });
    expect(textOf(failed)).toContain('The disk is full.');
    const wrong = await call('add', { a: 'one' });
    expect(wrong).toMatchObject({ isError: true });
    expect(textOf(wrong)).toContain('a:');
    await expect(call('no_such_tool')).rejects.toMatchObject({ code: -32602 });
  });

  test('calls of tools are runs of an agent that is not listed', async () => {
    const gateway = await start({ tools: { add }, agents: [{ name: 'Only', instructions: '' }] });
    const client = await connect(gateway, { era: '2026' });
    const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 2 } });
    const runId = result._meta?.['lastcall/runId'];
    expect(await gateway.api(`/api/runs/${runId}`)).toMatchObject({
      status: 'completed',
      agentId: 'gateway:tool-caller',
    });
    for (const list of ['/api/agents', '/api/entities'])
      expect(JSON.stringify(await gateway.api(list))).not.toContain('Tool caller');
    const { data } = await gateway.api('/v1/models');
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['Only']);
    expect((await gateway.request('/api/agents/gateway:tool-caller', undefined, { method: 'DELETE' })).status).toBe(
      404,
    );
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 3, b: 3 } }))).toBe('6');
  });

  test.each(ERAS)('[X19] a client of %s sees and calls only what the configuration offers', async (era) => {
    const gateway = await start({
      tools: { add, broken },
      agents: [
        { name: 'Open', instructions: '' },
        { name: 'Hidden', instructions: '' },
      ],
      mcpServer: { tools: ['add'], agents: ['Open'] },
    });
    const client = await connect(gateway, { era });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(['add', 'ask_open', 'get_run']);
    await expect(client.callTool({ name: 'broken' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.callTool({ name: 'ask_hidden', arguments: { message: 'Hi' } })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test('[X19] an agent whose tool would have the name of another tool is offered under a name of its own', async () => {
    const gateway = await start({
      model: scriptedModel(['I am open.']),
      tools: { ask_open: add },
      agents: [{ name: 'Open', instructions: '' }],
    });
    const client = await connect(gateway, { era: '2026' });
    const names = (await client.listTools()).tools
      .map(({ name }) => name)
      .filter((name) => name.startsWith('ask_open'));
    expect(names).toEqual(['ask_open', expect.stringMatching(/^ask_open_[0-9a-f]{8}$/)]);
    expect(textOf(await client.callTool({ name: 'ask_open', arguments: { a: 1, b: 2 } }))).toBe('3');
    const [, agent = ''] = names;
    expect(textOf(await client.callTool({ name: agent, arguments: { message: 'Hi.' } }))).toContain('I am open.');
  });
});
