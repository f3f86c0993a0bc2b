import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { expect, test } from 'vitest';
import { describeWorlds } from '../support/describe-worlds.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly cache_control?: unknown;
}

interface Body {
  readonly system: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}

const USAGE = { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 3 };
const EVENTS = [
  {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], usage: USAGE },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Noted.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
];

/** A server with Anthropic's protocol that replies "Noted." and keeps its requests. */
async function anthropicServer() {
  const bodies: Body[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    bodies.push(JSON.parse(text));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    bodies,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

describeWorlds('the package of Anthropic', (open) => {
  test('[K8] it sends marks at the system text and before the situation', async () => {
    await using server = await anthropicServer();
    const model = createAnthropic({ apiKey: 'k', baseURL: server.url })('claude-test');
    const world = await open({ models: { default: model } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Bot', { instructions: 'Be kind.' })];
    const space = await world.space('Lobby', [ada, bot]);
    // In two spaces the agent gets its situation.
    await world.space('Kitchen', [ada, bot]);
    for (const text of ['One', 'Two']) {
      await world.say(space, ada, text);
      await world.idle();
    }
    expect(server.bodies).toHaveLength(2);
    for (const { system, messages } of server.bodies) {
      expect(system.at(-1)?.cache_control).toEqual({ type: 'ephemeral' });
      const blocks = messages.flatMap(({ content }) => content);
      expect(blocks.map(({ cache_control: mark }) => mark !== undefined)).toEqual(
        blocks.map((_block, index) => index === blocks.length - 2),
      );
      expect(blocks.at(-1)?.text).toMatch(/^<situation-/);
      expect(blocks.at(-2)?.text).toMatch(/^<inbox-/);
    }
  });
});
