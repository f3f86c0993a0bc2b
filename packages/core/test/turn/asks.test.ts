import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TurnResult } from '../../src/contract/turn-result.ts';
import { type Answer, pending, type Settlement, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import type { Journal } from '../../src/transcript/journal.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

/** A tool that asks two questions, one after the other, and returns the answers. */
function booking({ idempotent = false }: { idempotent?: boolean } = {}) {
  const answers: unknown[] = [];
  const book = tool({
    description: 'Books a table.',
    inputSchema: z.object({ guests: z.number(), at: z.number().default(() => answers.length) }),
    idempotent,
    execute({ guests, at }, { answer }) {
      if (answer !== undefined) answers.push(answer);
      return answers.length < 2 ? pending({ asks: true }) : `${guests} guests at ${at}`;
    },
  });
  return { book, answers };
}

const journal: Journal = { append: async () => {}, settle: async () => {} };

/** Runs the turn once, from the stored transcript of the last run. */
function go(book: ReturnType<typeof booking>['book'], stored?: string, answer?: Answer): Promise<TurnResult> {
  const model = scriptedModel(
    stored === undefined ? [{ toolName: 'book', input: { guests: 2 } }] : ['Booked.', 'Booked.'],
  );
  return runTurn({
    model,
    tools: { book },
    newId: sequentialIds(),
    journal,
    ...(stored === undefined
      ? { prompt: 'Book.' }
      : { transcript: Transcript.fromJSON(JSON.parse(stored)), answers: answer ? { 'call-1': answer } : {} }),
  });
}

function outcomesOf({ settlements }: TurnResult): readonly Settlement['outcome'][] {
  return settlements.map(({ outcome }) => outcome);
}

test('[R43] a tool that asks runs again with each answer, with the input that it asked about, until it has its result', async () => {
  const { book, answers } = booking();
  const asked = await go(book);
  expect(asked.pending).toMatchObject([{ callId: 'call-1', kind: 'input', input: { guests: 2, at: 0 } }]);
  const again = await go(book, JSON.stringify(asked.transcript), { result: 'window' });
  expect(again.pending).toMatchObject([{ callId: 'call-1', kind: 'input' }]);
  // The answer to the first question does not answer the second.
  expect((await go(book, JSON.stringify(again.transcript))).pending).toHaveLength(1);
  const done = await go(book, JSON.stringify(again.transcript), { error: 'no' });
  expect(answers).toEqual([{ result: 'window' }, { error: 'no' }]);
  expect(outcomesOf(done)).toMatchObject([{ status: 'ok', value: '2 guests at 0' }]);
});

test('[R43] a call that waits for input takes no approval', async () => {
  const { book } = booking();
  const asked = JSON.stringify((await go(book)).transcript);
  await expect(go(book, asked, { approve: true })).rejects.toThrow('must be { result } or { error }');
});

test('[R48] a call that was cut off while it ran with an answer is in doubt, and an idempotent one runs again', async () => {
  for (const idempotent of [false, true]) {
    const { book, answers } = booking({ idempotent });
    const { transcript } = await go(book);
    const cutOff = { kind: 'started', callId: 'call-1', answer: { result: 'window' } };
    const json = JSON.parse(JSON.stringify(transcript));
    const stop = json.entries.findIndex(({ kind }: { kind: string }) => kind === 'stop');
    json.entries.splice(stop, 1, cutOff);
    const found = await go(book, JSON.stringify(json));
    if (idempotent) expect(answers).toEqual([{ result: 'window' }]);
    else expect(outcomesOf(found)).toMatchObject([{ status: 'error', code: 'unknown_outcome' }]);
  }
});
