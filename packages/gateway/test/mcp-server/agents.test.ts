import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../../src/testing/wait-for.ts';
import { textsOf } from '../support/requests.ts';
import { describeMcpServer, type Era, textOf } from './mcp-client.ts';

const ERAS: readonly Era[] = ['2025', '2026'];

/** A tool that reports progress, and another that ends only when it is aborted. */
function tools(aborted: string[]) {
  return {
    count: tool({
      description: 'Counts.',
      inputSchema: z.object({}),
      execute: async (_input, ctx) => {
        ctx.progress({ progress: 1, total: 2, message: 'halfway' });
        await new Promise((resolve) => setTimeout(resolve, 60));
        ctx.progress('nearly there');
        return 'counted';
      },
    }),
    hang: tool({
      description: 'Hangs.',
      inputSchema: z.object({}),
      execute: (_input, { abortSignal, toolCallId, progress }) =>
        new Promise((_resolve, reject) => {
          progress('hanging');
          abortSignal.addEventListener('abort', () => {
            aborted.push(toolCallId);
            reject(abortSignal.reason);
          });
        }),
    }),
  };
}

const call = (toolName: string) => [{ toolName, input: {} }];

describeMcpServer('the MCP server offers agents', ({ start, connect }) => {
  test.each(ERAS)('[X19] a client of %s asks an agent, and continues the conversation by its context', async (era) => {
    const model = scriptedModel(['Hello, Ada.', 'You are Ada.']);
    const name = `Greeter of ${era}!`;
    const gateway = await start({ model, agents: [{ name, description: 'Greets people.', instructions: 'Greet.' }] });
    const client = await connect(gateway, { era });
    const toolName = `ask_greeter_of_${era}`;
    const { tools: listed } = await client.listTools();
    expect(listed.find((one) => one.name === toolName)).toMatchObject({
      title: name,
      description: `Asks the agent ${name}. Greets people.`,
      inputSchema: { required: ['message'] },
    });
    const first = await client.callTool({ name: toolName, arguments: { message: 'I am Ada.' } });
    expect(first).toMatchObject({
      content: [{ text: 'Hello, Ada.' }, {}],
      structuredContent: { response: 'Hello, Ada.' },
    });
    const { context_id } = first.structuredContent as { context_id: string };
    const second = await client.callTool({ name: toolName, arguments: { message: 'Who am I?', context_id } });
    expect(second.structuredContent).toMatchObject({ response: 'You are Ada.', context_id });
    expect(textsOf(model.requests.at(-1)?.prompt ?? [])).toEqual(['I am Ada.', 'Who am I?']);
    for (const message of [7, '', ' \n']) {
      const wrong = await client.callTool({ name: toolName, arguments: { message } });
      expect(wrong).toMatchObject({ isError: true, content: [{ text: 'message must be a text that is not empty.' }] });
    }
  });

  test.each(ERAS)(
    '[X19] a client of %s gets progress notifications, which first name the run that it waits for',
    async (era) => {
      const name = `Counter ${era}`;
      const model = scriptedModel([call('count'), 'Two.']);
      const gateway = await start({ model, tools: tools([]), agents: [{ name, instructions: '', tools: ['count'] }] });
      const client = await connect(gateway, { era });
      const told: { progress: number; total?: number; message?: string }[] = [];
      const onprogress = (one: { progress: number }): void => void told.push(one);
      const result = await client.callTool(
        { name: `ask_counter_${era}`, arguments: { message: 'Count.' } },
        { onprogress },
      );
      expect(textOf(result)).toContain('Two.');
      expect(told[0]?.message).toBe(`Run ${result._meta?.['lastcall/runId']} has started.`);
      expect(told.map(({ message }) => message)).toContain('Calls count.');
      const numbers = told.map(({ progress }) => progress);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      told.length = 0;
      await client.callTool({ name: 'count' }, { onprogress });
      expect(told).toContainEqual(expect.objectContaining({ progress: 1, total: 2, message: 'halfway' }));
      expect(told.at(-1)).toMatchObject({ message: 'nearly there' });
    },
  );

  test.each(ERAS)('[X19] when a client of %s cancels its call, the run and its tool are cancelled', async (era) => {
    const aborted: string[] = [];
    const gateway = await start({ tools: tools(aborted) });
    const client = await connect(gateway, { era });
    const cancel = new AbortController();
    const started = Promise.withResolvers<string>();
    const onprogress = ({ message = '' }: { message?: string | undefined }): void => {
      if (message.startsWith('Run ')) started.resolve(message.split(' ')[1] ?? '');
      if (message === 'hanging') cancel.abort();
    };
    const calling = client.callTool({ name: 'hang' }, { onprogress, signal: cancel.signal });
    await expect(calling).rejects.toThrow();
    const runId = await started.promise;
    await waitFor(async () => (await gateway.api(`/api/runs/${runId}`)).status === 'cancelled');
    expect(aborted).toHaveLength(1);
  });

  test('[X19] a call that succeeded is not cancelled by the end of its request', async () => {
    const gateway = await start({ tools: tools([]) });
    const client = await connect(gateway, { era: '2026' });
    const { _meta } = await client.callTool({ name: 'count' });
    expect(await gateway.api(`/api/runs/${_meta?.['lastcall/runId']}`)).toMatchObject({ status: 'completed' });
  });

  test('a run that fails is reported as an error, with the text of the agent', async () => {
    const name = 'Looper';
    const model = scriptedModel(() => call('count'));
    const agent = { name, instructions: '', tools: ['count'], limits: { maxSteps: 2 } };
    const gateway = await start({ model, tools: tools([]), agents: [agent] });
    const client = await connect(gateway, { era: '2026' });
    const result = await client.callTool({ name: 'ask_looper', arguments: { message: 'Go.' } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('ended early: max_steps.');
  });
});
