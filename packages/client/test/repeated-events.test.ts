import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createClient } from '../src/index.ts';

/** Sends the next of the given responses on each connection, and records where the client wanted to continue. */
async function startStreams(responses: readonly string[]) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'last-event-id': '2' });
    response.end(responses[asked.length - 1] ?? '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: async () => void server.close() };
}

const event = (seq: number, type = 'agent.active'): string =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type })}\n\n`;

test('[S10] events that a proxy repeats are delivered once, half an event is not delivered, and a reset moves the position', async () => {
  await using server = await startStreams([
    // Only the header says where the stream begins.
    'retry: 1000\nid: 2\n\n',
    `${event(3)}${event(4)}id: 5\nevent: agent.active\ndata: {"seq":5,`,
    `${event(3)}${event(4)}${event(5)}`,
    `${event(9, 'reset')}`,
    `${event(10)}${event(10)}${event(11)}`,
  ]);
  const client = createClient({ url: server.url, auth: { key: 'k' }, backoff: { firstMs: 1, maxMs: 2 } });
  const seen: string[] = [];
  for await (const { seq, type } of client.spaces.stream('s')) {
    seen.push(`${seq} ${type}`);
    if (seq === 11) break;
  }
  expect(seen).toEqual([
    '3 agent.active',
    '4 agent.active',
    '5 agent.active',
    '9 reset',
    '10 agent.active',
    '11 agent.active',
  ]);
  expect(server.asked).toEqual([undefined, '2', '4', '5', '9']);
});
