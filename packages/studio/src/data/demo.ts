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

/** Asks for the weather, and forks the run with another result of its call. Returns both runs. */
export async function forkInDemo(): Promise<{ readonly runId: string; readonly forkId: string } | undefined> {
  const { run_id: runId } = await client.chat.send({ agent: 'Concierge', message: 'What is the weather in Tokyo?' });
  const { items } = await client.runs.transcript(runId);
  const settled = items.flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement] : []));
  const callId = settled.find(({ toolName }) => toolName === 'fetch_weather')?.callId;
  if (callId === undefined) return undefined;
  return { runId, forkId: await startFork(runId, 2, { outcomes: { [callId]: { result: SNOW } } }) };
}
