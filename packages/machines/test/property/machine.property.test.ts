import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { pending, tool } from '@lastcall/core';
import { type ScriptedCall, type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  deserializeMachine,
  type Instance,
  type Machine,
  type MachineEntry,
  node,
  pack,
  runMachine,
  serializeMachine,
  spawn,
  stateTool,
  suspend,
  to,
} from '../../src/index.ts';
import { problemOf } from '../kit.ts';

const state = z.object({ a: z.number().max(50), b: z.number().max(50) });
type State = z.infer<typeof state>;
const initialState: State = { a: 0, b: 0 };
const none = z.object({});

/** Lets others come in between, without a clock. */
async function ticks(count: number): Promise<void> {
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
const commands = {
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
const made = charter({
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
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('Yes.', 'No.') },
  { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
);
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('say' as const), silent: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('run' as const), steps: fc.integer({ min: 1, max: 4 }), say: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('store' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash' as const), ticks: fc.nat(60) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), which: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      name: fc.constantFrom(...Object.keys(commands), 'nope'),
      a: fc.integer({ min: 0, max: 70 }),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** One life of a machine, through restarts. */
class Life {
  machine: Machine = createMachine(made, { root: 'main' });
  readonly told: MachineEntry[] = [];
  readonly said: string[] = [];
  readonly #replies: readonly ScriptedReply[];
  #asked = 0;
  #calls = 0;

  constructor(replies: readonly ScriptedReply[]) {
    this.#replies = replies;
  }

  async act(action: Action): Promise<void> {
    // Workers that hire workers double with every step: enough is seen of them by then.
    if ((action.do === 'run' || action.do === 'crash') && sizeOf(this.machine.tree.root) > 40) return;
    switch (action.do) {
      case 'say':
        return this.#say(action.silent);
      case 'run':
        return this.#run(action.steps, action.say);
      case 'store':
        this.machine = this.#stored();
        return;
      case 'crash':
        return this.#crash(action.ticks);
      case 'resume':
        return this.#resume(action.which);
      case 'command':
        await this.machine.command(action.name, { a: action.a }).catch(() => {});
    }
  }

  #say(silent: boolean): void {
    const text = `message ${this.said.length}`;
    this.said.push(text);
    this.machine.enqueue({ role: 'user', content: text, silent });
  }

  async #run(steps: number, say: boolean): Promise<void> {
    let count = 0;
    for await (const step of runMachine(
      this.machine,
      this.#options(() => say && count === 1),
    )) {
      this.told.push(...step.entries);
      this.check();
      if (++count === steps || sizeOf(this.machine.tree.root) > 40) break;
    }
  }

  /** The process dies in the middle of a step: what goes on in it is of no account. */
  async #crash(count: number): Promise<void> {
    const dying = runMachine(
      this.machine,
      this.#options(() => false),
    );
    const before = serializeMachine(this.machine).told;
    const step = dying.next();
    await ticks(count);
    const isTold = serializeMachine(this.machine).told > before;
    this.machine = this.#stored();
    const { value } = await step;
    // The step was over, and only its last word did not get through.
    if (isTold) this.told.push(...value.entries);
    await dying.return?.();
  }

  #resume(which: number): void {
    const { suspended } = this.machine;
    const one = suspended[which % Math.max(1, suspended.length)];
    if (one !== undefined)
      this.machine.resume(one.id, one.kind === 'approval' ? which % 2 === 0 || { deny: 'no' } : { which });
  }

  #stored(): Machine {
    return deserializeMachine(made, JSON.stringify(serializeMachine(this.machine)));
  }

  #options(says: () => boolean) {
    const { machine } = this;
    const model = scriptedModel((request: LanguageModelV4CallOptions) => {
      expect(problemOf(request)).toBeUndefined();
      if (this.machine === machine && says()) this.#say(false);
      return this.#replies[this.#asked++ % this.#replies.length] as ScriptedReply;
    });
    return { model, newId: () => `call-${++this.#calls}`, maxSteps: 8 };
  }

  check(): void {
    const { tree, history, suspended } = this.machine;
    assertTree(tree.root);
    for (const one of Object.values(tree.packs)) expect(state.parse(one)).toEqual(one);
    assertSettled(history, new Set(suspended.map(({ callId }) => callId)), answeredIn(tree.root));
    expect(history.slice(0, this.told.length)).toEqual(this.told);
    const heard = history.flatMap((entry) => (entry.kind === 'message' ? userTexts(entry) : []));
    const queued = tree.queue.flatMap((one) => userTexts(one));
    expect([...heard, ...queued]).toEqual(this.said);
  }
}

function sizeOf({ children }: Instance): number {
  return children.reduce((size, child) => size + sizeOf(child), 1);
}

function assertTree(instance: Instance): void {
  expect(state.parse(instance.state)).toEqual(instance.state);
  expect(instance.children.filter(({ worker }) => !worker).length).toBeLessThanOrEqual(1);
  if (instance.worker) expect(instance.children.every(({ worker }) => worker)).toBe(true);
  expect(instance.phase.kind).not.toBe('ceded');
  for (const child of instance.children) assertTree(child);
}

/** Every call that stands in the history has one end, or waits for one. */
function assertSettled(
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

/** Calls whose answers have come, and that have not got them yet. */
function answeredIn({ waits, children }: Instance): Set<string> {
  const own = waits.filter(({ answer }) => answer !== undefined).map(({ callId }) => callId);
  return new Set([...own, ...children.flatMap((child) => [...answeredIn(child)])]);
}

function userTexts({ message }: { readonly message: LanguageModelV4CallOptions['prompt'][number] }): string[] {
  if (typeof message.content === 'string') return [];
  return message.content.flatMap((part) =>
    part.type === 'text' && part.text.startsWith('message ') ? [part.text] : [],
  );
}

test('[M8] [M14] [M17] [M18] [M20] [M22] [M24] [M26] whatever happens, in whatever order: one primary, one end for each call, no message lost, valid requests, valid state', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(reply, { minLength: 1, maxLength: 12 }),
      fc.array(action, { minLength: 1, maxLength: 14 }),
      async (replies, actions) => {
        const life = new Life(replies);
        for (const one of actions) await life.act(one);
        await life.act({ do: 'run', steps: 3, say: false });
        life.check();
      },
    ),
    { numRuns: 150 },
  );
});
