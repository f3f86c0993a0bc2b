import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { readEvents } from '../src/event-stream.ts';

/** The bytes of a real stream, with characters of one to four bytes. */
async function recordedStream(): Promise<Uint8Array<ArrayBuffer>> {
  await using gateway = await startTestGateway({
    agents: [{ name: 'Echo', instructions: 'Answer.' }],
    spaces: [{ name: 'Lobby', agents: ['Echo'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { api, request } = gateway;
  const [space] = (await api('/api/spaces')).items;
  const [ada] = (await api('/api/entities?externalId=ada')).items;
  await api(`/api/spaces/${space.id}/messages`, { entityId: ada.id, text: 'Grüße, 日本 🙂 \n\ndata: none\r\n' });
  await waitFor(async () => (await api('/api/runs?status=completed')).items.length > 0);
  const { body } = await request(`/api/spaces/${space.id}/stream?lastEventId=0`);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let bytes = new Uint8Array();
  while (!new TextDecoder().decode(bytes).includes('event: agent.inactive')) {
    const { value = new Uint8Array() } = await reader.read();
    bytes = Buffer.concat([bytes, value]);
  }
  await reader.cancel();
  return bytes;
}

async function eventsOf(...pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<unknown[]> {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const events: unknown[] = [];
  for await (const event of readEvents({ body }, { cut: new AbortController() })) events.push(event);
  return events;
}

test('[S10] the events of a stream are the same wherever its bytes are cut', async () => {
  const bytes = await recordedStream();
  const whole = await eventsOf(bytes);
  expect(whole.length).toBeGreaterThan(4);
  expect(JSON.stringify(whole)).toContain('Grüße, 日本 🙂 \\n\\ndata: none\\r\\n');
  for (let at = 0; at <= bytes.length; at++) {
    const cut = await eventsOf(bytes.subarray(0, at), bytes.subarray(at));
    if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut).toEqual(whole);
  }
  expect(await eventsOf(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(whole);
});
