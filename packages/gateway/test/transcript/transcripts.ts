import { type AnyTool, type Entry, ok, pending, rewindTool, runTurn, Transcript, tool } from '@lastcall/core';
import { fakeClock, type ScriptedReply, scriptedModel, sequentialIds } from '@lastcall/core/testing';
import fc from 'fast-check';
import { z } from 'zod';

/** One step of a run: its calls, with the lengths of their inputs and outputs. */
type Step = readonly Call[];

export interface Call {
  readonly toolName: 'search' | 'look' | 'boom' | 'ask' | 'allow' | 'rewind' | 'unknown';
  readonly inputLength: number;
  readonly outputLength: number;
}

export interface RunScript {
  readonly promptLength: number;
  readonly steps: readonly Step[];
  readonly lastWord: string;
  /** True if waiting calls are answered at the start of the run. */
  readonly answers: boolean;
}

const schema = z.object({ text: z.string(), outputLength: z.number() });
const give = ({ outputLength }: { outputLength: number }) => ok('o'.repeat(outputLength), 'found');

export const tools: Record<string, AnyTool> = {
  search: tool({ description: 'Search', inputSchema: schema, execute: give }),
  look: tool({ description: 'Look', inputSchema: schema, effects: 'none', keepLatest: 'view', execute: give }),
  boom: tool({
    description: 'Fail',
    inputSchema: schema,
    execute({ outputLength }) {
      throw new Error('e'.repeat(outputLength + 1));
    },
  }),
  ask: tool({ description: 'Ask somebody', inputSchema: schema, execute: () => pending() }),
  allow: tool({ description: 'Needs leave', inputSchema: schema, approval: true, execute: give }),
  rewind: rewindTool,
} as Record<string, AnyTool>;

/** The entries that core really writes for such runs. */
export async function performRuns(
  scripts: readonly RunScript[],
  from: readonly Entry[] = [],
  salt = '',
): Promise<readonly Entry[]> {
  const transcript = new Transcript(from);
  const newId = sequentialIds(`${salt}call`);
  for (const script of scripts) {
    const replies: ScriptedReply[] = [...script.steps.map((step) => ({ calls: step.map(toCall) })), script.lastWord];
    await runTurn({
      model: scriptedModel((_, invocation) => replies[invocation - 1] ?? 'over'),
      tools,
      transcript,
      prompt: 'p'.repeat(script.promptLength),
      onPending: 'continue',
      answers: script.answers ? answersFor(transcript.entries) : {},
      clock: fakeClock(),
      newId,
      maxSteps: 20,
    });
  }
  return transcript.entries;
}

function toCall({ toolName, inputLength, outputLength }: Call) {
  const input =
    toolName === 'rewind'
      ? { reason: 'wrong way', guidance: 'g'.repeat(Math.min(inputLength, 200) + 1) }
      : { text: 'i'.repeat(inputLength), outputLength };
  return { toolName, input };
}

/** An answer for every waiting call. */
export function answersFor(entries: readonly Entry[]): Record<string, { result: unknown } | { approve: true }> {
  const waiting = new Map<string, { result: unknown } | { approve: true }>();
  for (const entry of entries) {
    if (entry.kind === 'settled') waiting.delete(entry.settlement.callId);
    if (entry.kind !== 'pending' || entry.settlement.outcome.status !== 'pending') continue;
    const { callId, outcome } = entry.settlement;
    waiting.set(callId, outcome.kind === 'approval' ? { approve: true } : { result: `the answer to ${callId}` });
  }
  return Object.fromEntries(waiting);
}

const length = fc.oneof(fc.nat(60), fc.nat(600), fc.nat(6_000));
const anyCall: fc.Arbitrary<Call> = fc.record({
  toolName: fc.constantFrom('search', 'search', 'look', 'boom', 'ask', 'allow', 'rewind', 'unknown'),
  inputLength: length,
  outputLength: length,
});
export const anyRun: fc.Arbitrary<RunScript> = fc.record({
  promptLength: length.map((some) => some + 1),
  steps: fc.array(fc.array(anyCall, { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
  lastWord: fc.constantFrom('Done.', 'I am done.\nIn two lines.', 'w'.repeat(900)),
  answers: fc.boolean(),
});
