import type { ServerResponse } from 'node:http';
import { tool } from '@lastcall/core';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { modelFinder } from '../../src/models/find-model.ts';
import { chatApi } from '../chat/chat-api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';

const look = tool({ description: 'Looks.', inputSchema: z.looseObject({}), execute: () => 'Seen.' });

type Counting = 'when asked' | 'nothing' | 'zeros';

/** A server that speaks OpenAI's protocol, counts tokens in one of these ways, and calls `look` in every reply. */
async function startServer(counting: Counting): Promise<WebSite> {
  return await startWebSite(({ body }, response) => {
    const { stream, stream_options } = JSON.parse(body) as { stream?: boolean; stream_options?: unknown };
    const isAsked = (stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
    const counts = { 'when asked': isAsked ? usage(1_000, 50) : undefined, nothing: undefined, zeros: usage(0, 0) };
    if (stream !== true) throw new Error('The gateway streams.');
    sendChunks(response, counts[counting]);
  });
}

function usage(prompt_tokens: number, completion_tokens: number): object {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function sendChunks(response: ServerResponse, counted: object | undefined): void {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } };
  const head = { id: 'r1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const chunks = [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [call] }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ...(counted === undefined ? [] : [{ ...head, choices: [], usage: counted }]),
  ];
  response.setHeader('content-type', 'text/event-stream');
  response.end([...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
}

describeWorlds('openai-compatible models', (open) => {
  const servers: WebSite[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
  });

  /** A run that would go on for ever, of an agent that may use 2,500 tokens. */
  async function runWith(counting: Counting) {
    const server = await startServer(counting);
    servers.push(server);
    const finder = modelFinder({ model: undefined, modelUrl: `${server.url}/v1`, models: {}, env: {} });
    const world = await open({
      models: { default: await finder.find('openai-compatible/m') },
      tools: { look },
    });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['look'], limits: { tokensPerCycle: 2_500 } });
    const { run_id, stop } = await api.done('POST', '/chat', { agent, message: 'x'.repeat(4_000) });
    const run = await api.done<{ usage: { inputTokens: number; outputTokens: number } }>('GET', `/api/runs/${run_id}`);
    return { stop, requests: server.requests.length, usage: run.usage };
  }

  test('a server is asked for its token counts, and the token limit uses them', async () => {
    const { stop, requests, usage: counted } = await runWith('when asked');
    expect(stop).toMatchObject({ reason: 'budget' });
    expect(requests).toBe(3);
    expect(counted).toEqual({ inputTokens: 3_000, outputTokens: 150, totalTokens: 3_150 });
  });

  test.each(['nothing', 'zeros'] as const)(
    'the tokens of a server that counts %s are estimated, and the limit of tokens counts the estimate',
    async (counting) => {
      const { stop, requests, usage: counted } = await runWith(counting);
      expect(stop).toMatchObject({ reason: 'budget' });
      expect(requests).toBeLessThanOrEqual(3);
      // The message alone has 4,000 characters, about 1,000 tokens, in each request.
      expect(counted.inputTokens).toBeGreaterThanOrEqual(1_000 * requests);
      expect(counted.outputTokens).toBeGreaterThan(0);
    },
  );
});
