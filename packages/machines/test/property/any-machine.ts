import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { pending, tool } from '@lastcall/core';
import type { ScriptedCall, ScriptedReply } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  type Instance,
  type MachineEntry,
  node,
  pack,
  spawn,
  stateTool,
  suspend,
  to,
} from '../../src/index.ts';

export const state = z.object({ a: z.number().max(50), b: z.number().max(50) });
type State = z.infer<typeof state>;
const initialState: State = { a: 0, b: 0 };
const none = z.object({});

/** Lets other microtasks run, without a clock. */
export async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await Promise.resolve();
}

const write = stateTool<State>()({
  description: 'Writes a field, in its own time.',
  inputSchema: z.object({ field: z.enum(['a', 'b']), by: z.number(), ticks: z.number(), fails: z.boolean() }),
  effects: 'session',
  execute: async ({ field, by, ticks: count, fails }, ctx) => {
    ctx.updateState({ [field]: ctx.state[field] + by });
    await ticks(count);
    if (fails) throw new Error('after all');
    return ctx.state;
  },
});
const tools = {
  write,
  look: tool({ description: 'Looks.', inputSchema: none, effects: 'none', execute: () => ticks(3) }),
  wait: tool({ description: 'Waits.', inputSchema: none, effects: 'session', execute: () => pending() }),
  allowed: tool({
    description: 'Needs leave.',
    inputSchema: none,
    approval: true,
    effects: 'session',
    execute: () => 'allowed',
  }),
  answer: tool({
    description: 'Answers.',
    inputSchema: none,
    terminal: true,
    effects: 'session',
    execute: () => 'the answer',
  }),
};
const transitions = {
  again: { description: 'Anew.', handler: () => to('main', { a: 1, b: 1 }) },
  talker: { description: 'As talker.', handler: () => to('talker') },
  hire: { description: 'Hires two.', handler: () => spawn(['worker', 'worker']) },
  talk: { description: 'Hands the word on.', handler: () => spawn('talker', { a: 2, b: 2 }) },
  both: { description: 'Both.', handler: () => spawn(['worker', 'talker']) },
  twice: { description: 'Two talkers.', handler: () => spawn(['talker', 'talker']) },
  done: { description: 'Done.', handler: () => cede('done') },
  ask: { description: 'Asks.', handler: () => suspend({ why: 'ask' }) },
  bad: { description: 'Does not fit.', handler: () => to('main', { a: 99, b: 0 }) },
  breaks: { description: 'Breaks.', handler: () => Promise.reject(new Error('broken')) },
  mayMove: { description: 'Moves by leave.', approval: true, handler: () => to('talker') },
  mayHire: { description: 'Hires by leave.', approval: true, handler: () => spawn('worker') },
  mayGo: { description: 'Goes by leave.', approval: true, handler: () => cede('gone') },
};
export const commands = {
  set: {
    inputSchema: z.object({ a: z.number() }),
    execute: async ({ a }: { a: number }, ctx: { updateState(patch: object): void }) => {
      ctx.updateState({ a });
      await ticks(2);
    },
  },
  crew: { execute: () => spawn(['worker', 'worker', 'worker']) },
  home: { execute: () => to('main') },
  leave: { execute: () => cede('left') },
};
const shelf = pack({ name: 'shelf', state, initialState, tools: { shelve: write } });
export const made = charter({
  nodes: {
    main: node({ instructions: 'main', state, initialState, packs: [shelf], tools, commands }),
    talker: node({ instructions: 'talker', state, initialState, tools: { write }, commands }),
    worker: node({ instructions: 'worker', state, initialState, worker: true, tools: { look: tools.look } }),
  },
  transitions,
  tools: { answer: tools.answer },
  packs: [shelf],
});

const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  fc.record({
    toolName: fc.constantFrom('write', 'shelve'),
    input: fc.record({
      field: fc.constantFrom('a', 'b'),
      by: fc.integer({ min: -3, max: 30 }),
      ticks: fc.nat(6),
      fails: fc.boolean(),
    }),
  }),
  fc.record({ toolName: fc.constantFrom('look', 'wait', 'allowed', 'answer', 'nope', 'transition_nope', 'write') }),
  fc.record({ toolName: fc.constantFrom(...Object.keys(transitions)).map((name) => `transition_${name}`) }),
  fc.record({ toolName: fc.constantFrom(...Object.keys(transitions)) }),
  fc.record({ toolName: fc.constant('updateState'), input: fc.record({ a: fc.integer({ min: 0, max: 80 }) }) }),
);
export const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('Yes.', 'No.') },
  { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
);
export function sizeOf({ children }: Instance): number {
  return children.reduce((size, child) => size + sizeOf(child), 1);
}

export function assertTree(instance: Instance): void {
  expect(state.parse(instance.state)).toEqual(instance.state);
  expect(instance.children.filter(({ worker }) => !worker).length).toBeLessThanOrEqual(1);
  if (instance.worker) expect(instance.children.every(({ worker }) => worker)).toBe(true);
  expect(instance.phase.kind).not.toBe('ceded');
  for (const child of instance.children) assertTree(child);
}

/** Asserts that every call in the history either has one end, or waits for an answer, or has an answer that is not used yet. */
export function assertSettled(
  history: readonly MachineEntry[],
  waiting: ReadonlySet<string>,
  answered: ReadonlySet<string>,
): void {
  const ended = new Set<string>();
  for (const entry of history) {
    if (entry.kind !== 'settled') continue;
    expect(ended.has(entry.settlement.callId)).toBe(false);
    ended.add(entry.settlement.callId);
  }
  for (const entry of history) {
    if (entry.kind !== 'reply') continue;
    for (const { callId } of entry.calls) {
      const ends = [ended, waiting, answered].filter((set) => set.has(callId));
      expect(ends, `call ${callId}`).toHaveLength(1);
    }
  }
}

/** Calls that were answered but have not received their answer yet. */
export function answeredIn({ waits, children }: Instance): Set<string> {
  const own = waits.filter(({ answer }) => answer !== undefined).map(({ callId }) => callId);
  return new Set([...own, ...children.flatMap((child) => [...answeredIn(child)])]);
}

export function userTexts({ message }: { readonly message: LanguageModelV4CallOptions['prompt'][number] }): string[] {
  if (typeof message.content === 'string') return [];
  return message.content.flatMap((part) =>
    part.type === 'text' && part.text.startsWith('message ') ? [part.text] : [],
  );
}
