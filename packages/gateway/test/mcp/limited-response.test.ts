import { expect, test } from 'vitest';
import { limitedResponse } from '../../src/runtime/tools/mcp/limited-response.ts';

const event = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const progress = (progressToken: number, done: number): string =>
  event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: done } });
const result = event({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: 'ä notifications/progress' }] },
});

function responseOf(pieces: readonly (string | Uint8Array)[], type = 'text/event-stream'): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}

test('of progress messages that arrive together only the last of each call is kept, and all other messages', async () => {
  const together = progress(1, 1) + progress(2, 1) + progress(1, 2) + result + progress(1, 3);
  const text = await limitedResponse(responseOf([together])).text();
  expect(text).toBe(progress(2, 1) + result + progress(1, 3));
});

test('a message that is split anywhere is passed on as soon as it is complete', async () => {
  const bytes = new TextEncoder().encode(result);
  for (let at = 1; at < bytes.length; at++) {
    const pieces = [bytes.slice(0, at), bytes.slice(at)];
    const never = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
      },
    });
    const response = new Response(never, { headers: { 'content-type': 'text/event-stream' } });
    const reader = (limitedResponse(response).body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toBe(result);
  }
});

test.each(['text/event-stream', 'application/json'])(
  'one message of %s that is too long ends the response',
  async (type) => {
    const pieces = Array.from({ length: 20 }, () => 'x'.repeat(100));
    await expect(limitedResponse(responseOf(pieces, type), 1_000).text()).rejects.toThrow('more than 1000 bytes');
  },
);

test('many messages that are together longer than the limit are passed on', async () => {
  const pieces = Array.from({ length: 100 }, () => result);
  expect(await limitedResponse(responseOf(pieces), 1_000).text()).toBe(result.repeat(100));
});
