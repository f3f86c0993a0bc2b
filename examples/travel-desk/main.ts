// A gateway in this process: a person asks over HTTP, an agent asks a question with a card, and continues when it is answered.
import { tool } from '@lastcall/core';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { z } from 'zod';

const bookHotel = tool({
  description: 'Books a hotel room.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `A room in ${city} is booked.`,
});

// No model is named, so the agent uses the rehearsal.
await using gateway = await startTestGateway({
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

interface Message {
  readonly entityId: string;
  readonly kind: 'text' | 'tool';
  readonly text: string;
  readonly status: string;
  readonly metadata: { readonly toolName?: string; readonly input?: unknown };
}

const [space] = (await gateway.api('/api/spaces')).items;
const people: { id: string; displayName: string; kind: string }[] = (await gateway.api('/api/entities')).items;
const names = new Map(people.map(({ id, displayName }) => [id, displayName]));
const ada = people.find(({ kind }) => kind === 'human');
const path = `/api/spaces/${space.id}/messages`;
const messages = async (): Promise<Message[]> => (await gateway.api(path)).items;
/** Waits by polling; a page in a browser would follow the stream of the space instead. */
const texts = (count: number) =>
  waitFor(async () => (await messages()).filter(({ kind }) => kind === 'text').length >= count);

await gateway.api(path, { entityId: ada?.id, text: 'Please book a hotel in Tokyo.' });
const { callId, runId } = await waitFor(async () => (await gateway.api('/api/pending')).items[0]);
await texts(2);
await gateway.api(`/api/runs/${runId}/tool-results`, { callId, result: { confirmed: true } });
await texts(3);

for (const { entityId, kind, text, status, metadata } of await messages()) {
  const said = kind === 'text' ? text : `[${metadata.toolName} ${JSON.stringify(metadata.input)}: ${status}]`;
  console.log(`${names.get(entityId)}: ${said}`);
}
