import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createMachine,
  deserializeMachine,
  type Machine,
  type MachineEntry,
  runMachine,
  serializeMachine,
} from '../../src/index.ts';
import { problemOf } from '../kit.ts';
import {
  answeredIn,
  assertSettled,
  assertTree,
  commands,
  made,
  reply,
  sizeOf,
  state,
  ticks,
  userTexts,
} from './any-machine.ts';

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

/** A machine across restarts. */
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
    // Workers that hire workers double with every step; 40 instances are enough.
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

  /** The process dies in the middle of a step: whatever it still does has no effect. */
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
    // The step had ended; the process died before it could report it.
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

test('[M8] [M14] [M17] [M18] [M20] [M22] [M24] [M26] after any events in any order: one primary, one end for each call, no message lost, valid requests, valid state', async () => {
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
    { numRuns: 80 },
  );
});
