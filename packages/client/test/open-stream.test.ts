import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createClient, type StreamOptions } from '../src/index.ts';

const backoff = { firstMs: 1, maxMs: 2 };
const event = (seq: number): string => `id: ${seq}\ndata: {"type":"agent.active","seq":${seq}}\n\n`;

/** What a gateway says in the first connection of a stream, which stays open. */
function streamOf(...seqs: readonly number[]): Response {
  const said = new TextEncoder().encode(seqs.map(event).join(''));
  const body = new ReadableStream({ start: (controller) => controller.enqueue(said) });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** A gateway that accepts the connection and says nothing. */
const silent: typeof fetch = (_url, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });

async function seqsOf(client: ReturnType<typeof createClient>, options: StreamOptions, until: number) {
  const seqs: (number | undefined)[] = [];
  for await (const { seq } of client.spaces.stream('s', options)) {
    seqs.push(seq);
    if (seq === until) break;
  }
  return seqs;
}

test('[S10] a stream that a silent gateway never opens is given up after silenceMs, and opened again', async () => {
  let connections = 0;
  const gateway: typeof fetch = async (url, init) => (++connections === 1 ? silent(url, init) : streamOf(1));
  const client = createClient({ url: 'http://gateway', auth: 'none', fetch: gateway, silenceMs: 20, backoff });
  expect(await seqsOf(client, {}, 1)).toEqual([1]);
  const never = createClient({ url: 'http://gateway', auth: 'none', fetch: silent, silenceMs: 20, attempts: 1 });
  const events = never.chat.stream({ message: 'Hello.' })[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({
    code: 'unreachable',
    message: 'The gateway did not answer in time.',
  });
});

test('[S10] a stream gives no more events once its signal is aborted, also those that came in the same packet', async () => {
  const gateway: typeof fetch = async () => streamOf(1, 2, 3, 4);
  const client = createClient({ url: 'http://gateway', auth: 'none', fetch: gateway, backoff });
  const abort = new AbortController();
  const seqs: (number | undefined)[] = [];
  for await (const { seq } of client.spaces.stream('s', { signal: abort.signal })) {
    seqs.push(seq);
    if (seq === 2) abort.abort();
  }
  expect(seqs).toEqual([1, 2]);
});

test('[S10] a reader that leaves a stream closes its connection', async () => {
  let signal: AbortSignal | null | undefined;
  const gateway: typeof fetch = async (_url, init) => {
    signal = init?.signal;
    return streamOf(1, 2);
  };
  const client = createClient({ url: 'http://gateway', auth: 'none', fetch: gateway, backoff });
  expect(await seqsOf(client, {}, 1)).toEqual([1]);
  expect(signal?.aborted).toBe(true);
});

test('[S10] a stream leaves nothing on its signal, however often it was opened', async () => {
  let connections = 0;
  const gateway: typeof fetch = async () =>
    new Response(event(++connections), { headers: { 'content-type': 'text/event-stream' } });
  const client = createClient({ url: 'http://gateway', auth: 'none', fetch: gateway, backoff });
  const { signal } = new AbortController();
  expect(await seqsOf(client, { signal }, 5)).toEqual([1, 2, 3, 4, 5]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a client without an address, where there is no page, says so: a stream does not try for ever', async () => {
  const client = createClient({ auth: 'none', backoff });
  const missing = 'The client has no url, and there is no page whose origin it could use. Give createClient a url.';
  await expect(client.runs.list()).rejects.toThrow(missing);
  await expect(client.spaces.stream('s')[Symbol.asyncIterator]().next()).rejects.toThrow(missing);
});
