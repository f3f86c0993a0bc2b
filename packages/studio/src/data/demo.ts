import { ClientError, type PendingCall } from '@lastcall/client';
import { client } from './client.ts';
import { startFork } from './forks.ts';

/** Posts a sentence in a space of the demo. Returns the space. */
export async function sayInDemo(space: string, text: string): Promise<string | undefined> {
  const { items } = await client.spaces.list({ limit: 100 });
  const id = items.find(({ name }) => name === space)?.id;
  if (id !== undefined) await client.spaces.say(id, { text });
  return id;
}

/** Asks for a payment, which waits for approval. Returns the space. */
export async function askForPayment(): Promise<string | undefined> {
  return await sayInDemo('Accounts', 'Pay invoice 4711, amount 120.');
}

/** The newest payment that waits for approval in a space. If none does, it is asked for. */
export async function waitingPayment(): Promise<PendingCall> {
  const known = await newestPayment();
  if (known !== undefined) return known;
  await askForPayment();
  const asked = await poll(newestPayment);
  if (asked === undefined) throw new Error('No payment waits for approval.');
  return asked;
}

async function newestPayment(): Promise<PendingCall | undefined> {
  const { items } = await client.pending.list({ limit: 200 });
  const payments = items.filter(({ toolName, spaceId }) => toolName === 'pay_invoice' && spaceId !== undefined);
  return payments.toSorted((one, other) => other.createdAt - one.createdAt)[0];
}

/** Approves a payment, and returns when it has begun. */
export async function approvePayment(call: PendingCall): Promise<void> {
  const verdict = await client.pending.answer(call, { approve: true });
  if (verdict.status !== 'won' && verdict.status !== 'same') throw new Error('The payment was answered before.');
  const { runId } = verdict;
  if ((await poll(() => hasBegun(runId, call.callId))) !== true) throw new Error('The payment has not begun.');
}

async function hasBegun(runId: string, callId: string): Promise<true | undefined> {
  const { items } = await client.runs.transcript(runId).catch(ifNotThere);
  return items.some(({ kind, entry }) => kind === 'started' && JSON.stringify(entry).includes(callId)) || undefined;
}

/** The run that takes an answer is there when the agent has taken it. */
function ifNotThere(error: unknown): { items: [] } {
  if (error instanceof ClientError && error.status === 404) return { items: [] };
  throw error;
}

const SNOW = { city: 'Tokyo', forecast: 'snowy', celsius: -8 };

/** Forks a run that asked for the weather, with another result of its call. Returns both runs. */
export async function forkInDemo(): Promise<{ readonly runId: string; readonly forkId: string } | undefined> {
  const runId = await weatherRun();
  if (runId === undefined) return undefined;
  const { items } = await client.runs.transcript(runId);
  const settled = items.flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement] : []));
  const callId = settled.find(({ toolName }) => toolName === 'fetch_weather')?.callId;
  if (callId === undefined) return undefined;
  return { runId, forkId: await startFork(runId, 2, { outcomes: { [callId]: { result: SNOW } } }) };
}

/** Asks for the weather if no run has. */
async function weatherRun(): Promise<string | undefined> {
  const find = async (): Promise<string | undefined> =>
    (await client.runs.list({ toolName: 'fetch_weather', status: 'completed', limit: 1 })).items[0]?.id;
  const known = await find();
  if (known !== undefined) return known;
  await sayInDemo('Travel desk', 'What is the weather in Tokyo?');
  return await poll(find);
}

const POLL_MS = 250;
const MOST_POLLS = 120;

async function poll<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let count = 0; count < MOST_POLLS; count++) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
}
