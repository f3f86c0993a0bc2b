import { client } from './client.ts';
import { startFork } from './forks.ts';

/** Posts a sentence in a space of the demo. Returns the space. */
export async function sayInDemo(space: string, text: string): Promise<string | undefined> {
  const { items } = await client.spaces.list({ limit: 100 });
  const id = items.find(({ name }) => name === space)?.id;
  if (id !== undefined) await client.spaces.say(id, { text });
  return id;
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

const POLL_MS = 500;
const MOST_POLLS = 60;

/** Asks for the weather if no run has. */
async function weatherRun(): Promise<string | undefined> {
  const find = async (): Promise<string | undefined> =>
    (await client.runs.list({ toolName: 'fetch_weather', status: 'completed', limit: 1 })).items[0]?.id;
  const known = await find();
  if (known !== undefined) return known;
  await sayInDemo('Travel desk', 'What is the weather in Tokyo?');
  for (let poll = 0; poll < MOST_POLLS; poll++) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
}
