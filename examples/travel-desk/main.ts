// A gateway in this process: a person asks over HTTP, an agent asks back with a card, and goes on when it is answered.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '@lastcall/core';
import { createGateway } from '@lastcall/gateway';
import { z } from 'zod';

const bookHotel = tool({
  description: 'Books a hotel room.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `A room in ${city} is booked.`,
});

const home = await mkdtemp(join(tmpdir(), 'lastcall-travel-desk-'));
const key = 'a-key-for-this-example-alone';
const gateway = createGateway({
  // Everything of the environment is left out: no key of a provider, so the agent speaks through the rehearsal.
  env: { LASTCALL_SECRET_KEY: key, LASTCALL_LOG_LEVEL: 'silent', LASTCALL_HOME: home, PORT: '0' },
  tools: {
    book_hotel: bookHotel,
    confirm_booking: {
      description: 'Asks the people in the space to confirm a booking.',
      executionType: 'space',
      inputSchema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
      resultSchema: { type: 'object', properties: { confirmed: { type: 'boolean' } }, required: ['confirmed'] },
    },
  },
  agents: [{ name: 'Concierge', instructions: 'Book hotels.', tools: ['confirm_booking', 'book_hotel'] }],
  spaces: [{ name: 'Travel desk', agents: ['Concierge'], people: [{ name: 'Ada' }] }],
});
await gateway.start();

/** One request to the API. */
async function api<T>(path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${gateway.url}${path}`, init)).json()) as T;
}

interface Page<T> {
  readonly items: readonly T[];
}
interface Message {
  readonly id: string;
  readonly entityId: string;
  readonly kind: 'text' | 'tool';
  readonly text: string;
  readonly status: string;
  readonly metadata: { readonly toolName?: string; readonly input?: unknown };
}
interface Pending {
  readonly callId: string;
  readonly runId: string;
}

const [space] = (await api<Page<{ id: string }>>('/api/spaces')).items;
const people = (await api<Page<{ id: string; displayName: string; kind: string }>>('/api/entities')).items;
const names = new Map(people.map(({ id, displayName }) => [id, displayName]));
const ada = people.find(({ kind }) => kind === 'human');
const messages = `/api/spaces/${space?.id}/messages`;

/** Polls: a page in a browser would follow the stream of the space instead. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const answers = async (count: number): Promise<true | undefined> => {
  const { items } = await api<Page<Message>>(messages);
  return items.filter(({ kind, entityId }) => kind === 'text' && entityId !== ada?.id).length >= count
    ? true
    : undefined;
};

await api(messages, { entityId: ada?.id, text: 'Please book a hotel in Tokyo.' });
const waiting = await until(async () => (await api<Page<Pending>>('/api/pending')).items[0]);
await until(() => answers(1));
await api(`/api/runs/${waiting.runId}/tool-results`, { callId: waiting.callId, result: { confirmed: true } });
await until(() => answers(2));

for (const { entityId, kind, text, status, metadata } of (await api<Page<Message>>(messages)).items) {
  const said = kind === 'text' ? text : `[${metadata.toolName} ${JSON.stringify(metadata.input)}: ${status}]`;
  console.log(`${names.get(entityId)}: ${said}`);
}

await gateway.stop();
await rm(home, { recursive: true });
