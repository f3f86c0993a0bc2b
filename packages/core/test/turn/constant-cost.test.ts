import { expect, test } from 'vitest';
import { z } from 'zod';
import { runTurn, Transcript, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { countReads } from '../count-reads.ts';

const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });
const newId = sequentialIds();

async function oneTurn(transcript: Transcript): Promise<void> {
  const model = scriptedModel([{ toolName: 'look' }, 'Ok.']);
  await runTurn({ model, tools: { look }, transcript, prompt: 'Look.', newId, answers: {} });
}

async function conversation(turns: number): Promise<Transcript> {
  const transcript = new Transcript();
  for (let turn = 0; turn < turns; turn++) await oneTurn(transcript);
  return transcript;
}

/** How many earlier entries a turn reads. */
async function readsOf(transcript: Transcript): Promise<number> {
  const reads = countReads(transcript.entries);
  await oneTurn(transcript);
  return reads.count;
}

test('[R40] a turn reads no more earlier entries after 2,500 turns of two steps than after five', async () => {
  const [short, long] = [await conversation(5), await conversation(2_500)];
  const stored = [short, long].map((one) => JSON.stringify(one));
  const [first, last] = [await readsOf(short), await readsOf(long)];
  expect(last).toBe(first);
  expect(last).toBeLessThan(5);
  // Also in the first turn after the transcript was stored and read back.
  for (const text of stored) expect(await readsOf(Transcript.fromJSON(text))).toBe(first);
});
