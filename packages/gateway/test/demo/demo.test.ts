import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoConfig } from '../../src/demo/demo.ts';

let gateway: TestGateway;
let ada: string;
const spaces: Record<string, string> = {};

beforeAll(async () => {
  gateway = await startTestGateway(demoConfig());
  const { items } = await gateway.api('/api/spaces');
  for (const { id, name } of items) spaces[name] = id;
  ada = (await gateway.api('/api/entities?externalId=demo:ada')).items[0].id;
});
afterAll(async () => await gateway.stop());

// biome-ignore lint/suspicious/noExplicitAny: what the API answers.
type Message = any;

/** Performs the action, and waits for the end of the run that it causes. */
async function act<T>(work: () => Promise<T>): Promise<T> {
  const ended = async (): Promise<number> => {
    const { items } = await gateway.api('/api/runs?limit=100');
    return items.filter((run: { endedAt?: number }) => run.endedAt !== undefined).length;
  };
  const before = await ended();
  const done = await work();
  await waitFor(async () => (await ended()) > before);
  return done;
}

/** Posts the text, and returns what the agent showed. */
async function say(space: string, text: string): Promise<Message[]> {
  const { seq } = await act(() => gateway.api(`/api/spaces/${spaces[space]}/messages`, { entityId: ada, text }));
  return await messagesAfter(space, seq);
}

async function messagesAfter(space: string, seq: number): Promise<Message[]> {
  return (await gateway.api(`/api/spaces/${spaces[space]}/messages?after=${seq}`)).items;
}

const answer = ({ runId, callId }: Message, given: object) =>
  act(() => gateway.api(`/api/runs/${runId}/tool-results`, { callId, ...given }));

const shown = (messages: Message[]): string[] =>
  messages.flatMap(({ kind, metadata, status }) => (kind === 'tool' ? [`${metadata.toolName} ${status}`] : []));

test('spaces and people are listed in the order of the demo', async () => {
  expect(Object.keys(spaces)).toEqual(['Travel desk', 'Accounts', 'Research']);
  expect((await gateway.api('/api/entities?kind=human')).items.map((one: Message) => one.displayName)).toEqual([
    'Ada',
    'Ben',
  ]);
});

test('[S1] each suggestion of the demo makes an agent act', { timeout: 60_000 }, async () => {
  const { items } = await gateway.api('/api/spaces');
  const acted: Record<string, string[]> = {};
  for (const { name, metadata } of items)
    for (const sentence of metadata.suggestions) acted[sentence] = shown(await say(name, sentence));
  expect(acted).toEqual({
    'What is the weather in Tokyo?': ['fetch_weather complete'],
    'Draw a postcard of Tokyo.': ['draw_postcard complete'],
    'Book a hotel in Tokyo for 3 nights, please.': ['confirm_booking requires_action'],
    'File a report on Tokyo.': ['file_report complete'],
    'Pay invoice 4711, amount 120.': ['pay_invoice requires_action'],
    'Import the receipts of October.': ['import_receipts error'],
    'Which exchange rate do we take?': ['choose_rate requires_action'],
    'Add a supplier.': ['add_supplier requires_action'],
    'Report on the weather in Tokyo.': ['fetch_weather complete', 'file_report complete'],
    'Report on Oslo.': ['file_report complete'],
    'Report on hotel prices.': ['file_report complete'],
  });
});

/** How many requests the newest run of the demo took, and which calls it made. */
async function newestRun(): Promise<{ requests: number; calls: string[] }> {
  const [{ id }] = (await gateway.api('/api/runs?limit=1')).items;
  const { items } = await gateway.api(`/api/runs/${id}/transcript`);
  const replies = items.filter(({ kind }: Message) => kind === 'reply');
  const calls = replies.flatMap(({ entry }: Message) => entry.calls.map(({ toolName }: Message) => toolName));
  return { requests: replies.length, calls };
}

test('[K4] a payment takes two requests, a third after its approval, and a question without a tool takes one', async () => {
  const [payment] = await say('Accounts', 'Pay invoice 4711, amount 120.');
  expect(await newestRun()).toEqual({ requests: 2, calls: ['pay_invoice', 'send_message'] });
  await answer(payment, { approve: true });
  expect(await newestRun()).toEqual({ requests: 1, calls: ['send_message'] });
  await say('Accounts', 'Hello!');
  expect(await newestRun()).toEqual({ requests: 1, calls: ['send_message'] });
});

test('a yes books the requested trip, and a payment that is approved with another amount pays that amount', async () => {
  const [question] = await say('Travel desk', 'Book a hotel in Oslo for 2 nights.');
  await answer(question, { result: { confirmed: true } });
  const booked = (await messagesAfter('Travel desk', question.seq)).find(({ kind }) => kind === 'tool');
  expect(booked.metadata).toMatchObject({ toolName: 'book_hotel', output: { city: 'Oslo', nights: 2 } });
  const [payment] = await say('Accounts', 'Pay invoice 17, amount 300.');
  await answer(payment, { approve: true, input: { ...payment.metadata.input, amount: 30 } });
  const [paid] = await messagesAfter('Accounts', payment.seq - 1);
  expect(paid.metadata).toMatchObject({ input: { invoice: '17', amount: 30 }, output: { paid: '30 EUR' } });
});
