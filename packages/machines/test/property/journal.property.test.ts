import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Journal, JournalRecord } from '@lastcall/core';
import { ProcessKilled, type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMachine, type Machine, machineFromRecords, recordMachine, runMachine } from '../../src/index.ts';
import { stored } from '../journal/stored.ts';
import { problemOf } from '../kit.ts';
import {
  answeredIn,
  assertSettled,
  assertTree,
  commands,
  made,
  reply,
  sizeOf,
  ticks,
  userTexts,
} from './any-machine.ts';

const action = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('say' as const), silent: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      steps: fc.integer({ min: 1, max: 4 }),
      says: fc.boolean(),
      input: fc.boolean(),
      /** The write at which the process is killed, if the run gets that far. */
      killAt: fc.option(fc.integer({ min: 1, max: 25 })),
      kept: fc.boolean(),
      slow: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), which: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      name: fc.constantFrom(...Object.keys(commands), 'nope'),
      a: fc.integer({ min: 0, max: 70 }),
      recorded: fc.boolean(),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;
type Run = Extract<Action, { do: 'run' }>;

/** A machine and its records across restarts and kills. */
class Life {
  machine: Machine = createMachine(made, { root: 'main' });
  readonly #records: string[] = [];
  readonly #replies: readonly ScriptedReply[];
  #asked = 0;
  #calls = 0;
  #said = 0;
  /** True if a kill left a step in the middle, which the next run ends. */
  #isMidStep = false;

  constructor(replies: readonly ScriptedReply[]) {
    this.#replies = replies;
  }

  async act(action: Action): Promise<void> {
    switch (action.do) {
      case 'say':
        this.machine.enqueue({ role: 'user', content: this.#message(), silent: action.silent });
        return;
      case 'run':
        // Workers that hire workers double with every step; 40 instances are enough.
        if (sizeOf(this.machine.tree.root) <= 40) await this.#run(action);
        return;
      case 'restart':
        if (this.#records.length > 0) this.machine = this.#restored();
        return;
      case 'resume':
        return this.#resume(action.which);
      case 'command': {
        const journal = this.#journal({ killAt: null, kept: false, slow: 1 });
        const recorded = action.recorded && this.#records.length > 0 ? { journal } : {};
        await this.machine.command(action.name, { a: action.a }, recorded).catch(() => {});
      }
    }
  }

  /** Checks that the records restore the machine once everything is recorded. */
  async check(): Promise<void> {
    await recordMachine(this.machine, this.#journal({ killAt: null, kept: false, slow: 0 }));
    expect(stored(this.#restored())).toEqual(stored(this.machine));
    const { tree, history, suspended } = this.machine;
    if (!this.#isMidStep) {
      assertTree(tree.root);
      assertSettled(history, new Set(suspended.map(({ callId }) => callId)), answeredIn(tree.root));
    }
    const heard = history.flatMap((entry) => (entry.kind === 'message' ? userTexts(entry) : []));
    const all = [...heard, ...tree.queue.flatMap((one) => userTexts(one))];
    expect(new Set(all).size, 'no message is doubled').toBe(all.length);
  }

  async #run(run: Run): Promise<void> {
    const { machine } = this;
    const journal = this.#journal(run);
    const model = scriptedModel((request: LanguageModelV4CallOptions) => {
      expect(problemOf(request)).toBeUndefined();
      if (run.says && this.machine === machine) machine.enqueue(this.#message());
      return this.#replies[this.#asked++ % this.#replies.length] as ScriptedReply;
    });
    let count = 0;
    const options = { model, journal, newId: () => `call-${++this.#calls}`, maxSteps: 8 };
    const input = run.input ? { input: this.#message() } : {};
    for await (const step of runMachine(machine, { ...options, ...input })) {
      if (step.error instanceof ProcessKilled) {
        this.machine = this.#records.length > 0 ? this.#restored() : createMachine(made, { root: 'main' });
        this.#isMidStep = true;
        return;
      }
      // A leaf below one that was killed in the middle of its step acts one step later.
      if (step.done || count > 0) this.#isMidStep = false;
      if (++count === run.steps || sizeOf(machine.tree.root) > 40) break;
    }
  }

  #message(): string {
    return `message ${this.#said++}`;
  }

  #resume(which: number): void {
    const { suspended } = this.machine;
    const one = suspended[which % Math.max(1, suspended.length)];
    if (one !== undefined)
      this.machine.resume(one.id, one.kind === 'approval' ? which % 2 === 0 || { deny: 'no' } : { which });
  }

  #restored(): Machine {
    return machineFromRecords(
      made,
      this.#records.map((text) => JSON.parse(text) as JournalRecord),
    );
  }

  /** A journal that stores records at once and confirms them later, in the same order. */
  #journal({ killAt, kept, slow }: Pick<Run, 'killAt' | 'kept' | 'slow'>): Journal {
    let writes = 0;
    let last: Promise<void> = Promise.resolve();
    const write = async (...records: readonly JournalRecord[]): Promise<void> => {
      writes++;
      const isKilled = killAt !== null && writes >= killAt;
      const isKept = !isKilled || (kept && writes === killAt);
      if (isKept) this.#records.push(...records.map((one) => JSON.stringify(one)));
      last = last.then(() => ticks((writes * slow) % 7));
      await last;
      if (isKilled) throw new ProcessKilled(`at write ${killAt}`);
    };
    return {
      append: (entries) => write(...entries.map((entry) => ({ entry }))),
      settle: (entry, staged) => write({ entry, staged }),
    };
  }
}

test('[A16] after any events and a kill at any moment, the records restore the machine, and it continues', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(reply, { minLength: 1, maxLength: 12 }),
      fc.array(action, { minLength: 1, maxLength: 12 }),
      async (replies, actions) => {
        const life = new Life(replies);
        for (const one of actions) {
          await life.act(one);
          await life.check();
        }
        await life.act({ do: 'run', steps: 3, says: false, input: false, killAt: null, kept: false, slow: 1 });
        await life.check();
      },
    ),
    { numRuns: 35 },
  );
});
