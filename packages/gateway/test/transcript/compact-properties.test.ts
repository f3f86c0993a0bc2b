import { runTurn, Transcript } from '@lastcall/core';
import { fakeClock, scriptedModel } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { problemOfEntries, problemOfMessages } from '../../../core/src/testing/valid-history.ts';
import { readProgress } from '../../../core/src/transcript/progress.ts';
import { compact } from '../../src/domain/transcript/compact.ts';
import { estimateEntries } from '../../src/domain/transcript/estimate-tokens.ts';
import { fromCompactionPayload, toCompactionPayload } from '../../src/domain/transcript/transcript-row.ts';
import { answersFor, anyRun, performRuns, tools } from './transcripts.ts';

const runs = fc.array(anyRun, { minLength: 1, maxLength: 5 });
const summaries = fc.constantFrom<(text: string, tokens: number) => Promise<string>>(
  async () => 'FACT-A\nFACT-B',
  async () => '',
  async (_, tokens) => 'x'.repeat(5 * tokens + 100),
  async () => {
    throw new Error('no model');
  },
);
/** Waiting calls are always carried over; each takes about this many tokens. */
const TOKENS_OF_A_WAIT = 80;
const waitingOf = (entries: Parameters<typeof readProgress>[0]) => readProgress(entries).waiting;
const inputs = { runs, share: fc.double({ min: 0.02, max: 1.1, noNaN: true }), summarise: summaries };

test('[G14] a compacted transcript is valid, within its budget, and loses no call that waits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(inputs), async ({ runs, share, summarise }) => {
      const entries = await performRuns(runs);
      const waits = waitingOf(entries);
      const whole = estimateEntries(entries);
      const budgetTokens = Math.ceil(whole * share) + 60 + TOKENS_OF_A_WAIT * waits.size;
      const compaction = await compact({ entries, budgetTokens, summarise });
      expect(compaction === undefined).toBe(whole <= budgetTokens);
      if (compaction === undefined) return;
      const { carried } = compaction;
      expect(problemOfEntries(carried)).toBeUndefined();
      expect(problemOfMessages(new Transcript(carried).view())).toBeUndefined();
      expect(estimateEntries(carried)).toBeLessThanOrEqual(budgetTokens);
      expect([...waitingOf(carried).values()]).toEqual([...waits.values()]);
      // As read back from the store.
      const stored = toCompactionPayload(compaction);
      expect(new Transcript(fromCompactionPayload(stored).carried).toJSON()).toEqual(new Transcript(carried).toJSON());
    }),
    { numRuns: 120 },
  );
});

test('[G14] the newest run stays complete if it fits next to a summary', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(inputs), async ({ runs, summarise }) => {
      const entries = await performRuns(runs);
      const newest = entries.slice(entries.findLastIndex(({ kind }) => kind === 'turn'));
      const budgetTokens = Math.ceil((estimateEntries(newest) + 2_000 * waitingOf(entries).size) / 0.9) + 1;
      const compaction = await compact({ entries, budgetTokens, summarise });
      if (compaction !== undefined) expect(compaction.carried.slice(-newest.length)).toEqual(newest);
    }),
    { numRuns: 50 },
  );
});

test('[G14] every call that waits can be answered after a compaction', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(inputs), async ({ runs, share, summarise }) => {
      const entries = await performRuns(runs);
      const answers = answersFor(entries);
      const budgetTokens =
        Math.ceil(estimateEntries(entries) * share) + 60 + TOKENS_OF_A_WAIT * Object.keys(answers).length;
      const carried = (await compact({ entries, budgetTokens, summarise }))?.carried ?? entries;
      const { transcript } = await runTurn({
        model: scriptedModel(['Noted.']),
        tools,
        transcript: new Transcript(carried),
        prompt: 'They have answered.',
        answers,
        clock: fakeClock(),
      });
      expect(waitingOf(transcript.entries).size).toBe(0);
      expect(problemOfEntries(transcript.entries)).toBeUndefined();
      expect(problemOfMessages(transcript.view())).toBeUndefined();
      const view = JSON.stringify(transcript.view());
      for (const [callId, answer] of Object.entries(answers))
        if ('result' in answer) expect(view).toContain(`the answer to ${callId}`);
    }),
    { numRuns: 50 },
  );
});

test('[G14] facts of a summary survive the next compaction, by a model or by rule', async () => {
  await fc.assert(
    fc.asyncProperty(runs, runs, summaries, async (before, after, summarise) => {
      const facts = ['The customer is called Ada.', 'She wants "two" rooms <by the sea>.'];
      const first = await performRuns(before);
      const waits = waitingOf(first).size;
      const compaction = await compact({
        entries: first,
        budgetTokens: Math.max(400, Math.ceil(estimateEntries(first) / 2)) + TOKENS_OF_A_WAIT * waits,

        summarise: async () => facts.join('\n'),
      });
      fc.pre(compaction?.summary === facts.join('\n'));
      const entries = await performRuns(after, compaction?.carried, 'second ');
      const budgetTokens = 4_000 + TOKENS_OF_A_WAIT * waitingOf(entries).size;
      const second = await compact({ entries, budgetTokens, summarise });
      fc.pre(second !== undefined);
      for (const fact of facts) expect(second?.summary.split('\n')).toContain(fact);
      expect(estimateEntries(second?.carried ?? [])).toBeLessThanOrEqual(budgetTokens);
    }),
    { numRuns: 30 },
  );
});
