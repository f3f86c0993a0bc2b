import { type Budget, type Clock, createBudget, type Entry, OptionsError, type TurnOptions } from '@lastcall/core';
import { deferred, responseOf } from '@lastcall/core/internal';
import { type MachineMessage, toQueued } from '../tree/message.ts';
import type { Suspension } from '../tree/suspension.ts';
import { MAIN, ownerOf, type Thread } from '../tree/thread.ts';
import { findInstance, type Instance, inTreeOrder, type QueuedMessage } from '../tree/tree.ts';
import { AbortRelay } from './abort-relay.ts';
import { toldStep, whyFailed, withoutAnswer } from './failed-run.ts';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';
import { checkRunOptions, DEFAULT_MAX_STEPS, type RunMachineOptions } from './machine-options.ts';
import type { MachineStep, YieldReason } from './machine-step.ts';
import type { Plan } from './plan.ts';
import { assertCertain, Recorder } from './recorder.ts';
import { type LeafRunOptions, passedOn } from './run-leaf.ts';
import { emptyStep, runStep } from './run-step.ts';

/**
 * Runs a machine step by step until there is nothing left to do: the primary has answered and no worker is at work, or
 * a call waits for `resume`, or the steps are used up. A second run of the same machine waits for the first.
 *
 * Leaving the loop between two steps leaves the machine ready to be stored or run again. `return()` in the middle of a
 * step aborts it, as the `signal` does.
 */
export function runMachine(machine: Machine, options: RunMachineOptions): AsyncIterableIterator<MachineStep> {
  checkRunOptions(options);
  messagesOf(options.input).forEach(toQueued);
  const live = LiveMachine.of(machine);
  checkModelNames(live, options);
  const left = new AbortController();
  const steps = run(live, options, left.signal);
  const iterator: AsyncIterableIterator<MachineStep> = {
    next: () => steps.next(),
    return: () => {
      left.abort();
      return steps.return(undefined);
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

/** A name that no function can look up would fail only when its node is reached. */
function checkModelNames({ charter }: LiveMachine, { model }: RunMachineOptions): void {
  if (typeof model === 'function') return;
  const name = charter.nodeNames.find((one) => typeof charter.node(one).definition.model === 'string');
  if (name === undefined) return;
  throw new OptionsError(
    'model',
    `must be a function, because the node "${name}" names its model: (leaf) => … gets the name as leaf.model.`,
  );
}

async function* run(
  machine: LiveMachine,
  options: RunMachineOptions,
  left: AbortSignal,
): AsyncGenerator<MachineStep, undefined> {
  const given = shared(options, left);
  try {
    yield* runAlone(machine, options, given);
  } finally {
    given.relay.end();
  }
  return undefined;
}

async function* runAlone(
  machine: LiveMachine,
  options: RunMachineOptions,
  given: LeafRunOptions,
): AsyncGenerator<MachineStep> {
  const leave = await enter(machine, given.runSignal);
  if (leave === undefined) {
    yield toldStep(unbegun(machine, given.runSignal.reason), given.runSignal);
    return;
  }
  try {
    assertCertain(machine);
    startRecording(machine, options, given.runSignal);
    yield* begun(machine, given, options);
  } catch (error) {
    const refusal = machine.doubt ?? machine.recorder?.refusal?.error;
    if (refusal === undefined) throw error;
    yield toldStep(unbegun(machine, error), given.runSignal);
  } finally {
    machine.recorder = undefined;
    if (options.journal === undefined) forgetRecords(machine);
    leave();
  }
}

/** With a journal, all that the run does is recorded. */
function startRecording(
  machine: LiveMachine,
  { journal, deadline, clock }: RunMachineOptions,
  signal: AbortSignal,
): void {
  if (journal === undefined) forgetRecords(machine);
  else machine.recorder = new Recorder(machine, journal, { signal, deadline, clock });
}

/** After a run without a journal the records do not have all of the machine: the next journal gets it whole. */
function forgetRecords(machine: LiveMachine): void {
  machine.isRecorded = false;
  machine.unrecorded.length = 0;
  for (const thread of machine.threads.values()) {
    thread.beginning = undefined;
    thread.ending = undefined;
  }
}

async function* begun(
  machine: LiveMachine,
  given: LeafRunOptions,
  { input, maxSteps = DEFAULT_MAX_STEPS }: RunMachineOptions,
): AsyncGenerator<MachineStep> {
  const messages = messagesOf(input).map(toQueued);
  // Delivered with the same write, unless a command is running that may decide who hears them.
  if (messages.length > 0 || machine.recorder !== undefined)
    await machine.record((plan) => {
      if (machine.commands.isFree) deliver(machine, plan, messages);
      else for (const message of messages) plan.apply({ kind: 'queued', message });
    });
  yield* steps(machine, given, maxSteps);
}

/** Waits for the previous run. Undefined if the signal aborted first; the place in the queue is then given up. */
async function enter(machine: LiveMachine, signal: AbortSignal): Promise<(() => void) | undefined> {
  if (machine.runs.isFree) return await machine.runs.enter();
  const entering = machine.runs.enter();
  const entered = await unlessAborted(signal, entering);
  if (entered === undefined) void entering.then((leave) => leave());
  return entered;
}

/** The value of the promise; undefined if the signal aborts first. */
async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  const { promise: aborted, resolve } = deferred<undefined>();
  const giveUp = (): void => resolve(undefined);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const first = await Promise.race([promise, aborted]);
  signal.removeEventListener('abort', giveUp);
  return first;
}

/** The run never had the machine to itself, so it did nothing and reports nothing of what other runs do. */
function unbegun({ suspended }: LiveMachine, error: unknown): MachineStep {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { yieldReason: 'error', done: true, settlements: [], entries: [], leaves: [], suspended, error, usage };
}

async function* steps(machine: LiveMachine, options: LeafRunOptions, maxSteps: number): AsyncGenerator<MachineStep> {
  let last: MachineStep | undefined;
  for (let count = 0; ; count++) {
    const ids = await nextLeaves(machine, options);
    if (ids === undefined) {
      const aborted = { ...(await emptyStep(machine, 'error')), error: options.runSignal.reason, done: true };
      yield toldStep(aborted, options.runSignal);
      return;
    }
    const end = ids.length === 0 ? restingReason(machine) : limitReached(options, count >= maxSteps);
    if (end !== undefined) {
      // The last step already said that it was the last: another is yielded only if something happened since.
      const news = machine.log.items.length > machine.log.told;
      if (last?.done !== true || news) {
        const answer = last === undefined && !news && end === 'end_turn' ? lastAnswer(machine) : {};
        yield toldStep({ ...(await emptyStep(machine, end)), ...answer, done: true }, options.runSignal);
      }
      return;
    }
    const { fatal, ...step } = await runStep(machine, ids, options);
    last = toldStep({ ...step, done: fatal || isDone(machine, options) }, options.runSignal);
    yield last;
    if (fatal) return;
  }
}

/**
 * The answer of a machine that has nothing left to do. The process that got it first may have died before it used it.
 * Empty if something came after the answer.
 */
function lastAnswer({ threads, log }: LiveMachine): Pick<MachineStep, 'response' | 'output'> {
  const entries = threads.get(MAIN)?.transcript.entries ?? [];
  const last = entries.at(-1);
  if (last?.kind !== 'stop' || last.stop.reason !== 'end_turn') return {};
  const said = log.items.findLastIndex((item) => 'said' in item && item.said.thread === MAIN);
  const after = log.items.slice(said + 1);
  if (after.some((item) => 'happened' in item && item.happened.kind === 'command')) return {};
  const { response, output } = responseOf(entries, last.stop);
  return { response, ...(output === undefined ? {} : { output }) };
}

/**
 * The leaves of the next step, after commands have run and queued messages have been delivered. Undefined if the signal
 * aborted while a command was running, which may never end.
 */
async function nextLeaves(machine: LiveMachine, options: LeafRunOptions): Promise<readonly string[] | undefined> {
  const { commands } = machine;
  while (!commands.isFree) {
    const ended = await unlessAborted(
      options.runSignal,
      commands.whenFree().then(() => true),
    );
    if (ended === undefined) return undefined;
  }
  if (machine.tree.queue.length > 0) await machine.record((plan) => deliver(machine, plan));
  await machine.recorder?.flush();
  const ids = activeLeaves(machine, options);
  if (ids.length > 0 || machine.index.ceded.size === 0) return ids;
  await machine.record((plan) => {
    plan.takeInLeftovers();
    plan.takeOutCeded();
  });
  return activeLeaves(machine, options);
}

function activeLeaves(machine: LiveMachine, { clock }: LeafRunOptions): readonly string[] {
  const { index, tree, leftovers } = machine;
  const ids = index.active(tree, () => timeOf(clock));
  if (leftovers.size === 0) return ids;
  const midTurn = [...leftovers].filter(({ isMidTurn }) => isMidTurn).map((thread) => ownerOf(thread, tree));
  // Includes an instance that is no longer a leaf: it was stored after a call had made it a parent and before its other
  // calls ended. Its descendants wait until it ends, because it may still remove them.
  const parents = midTurn.filter((id) => (findInstance(tree, id)?.children.length ?? 0) > 0);
  const isFree = (id: string): boolean => !parents.some((parent) => id.startsWith(`${parent}.`));
  return [...new Set([...ids, ...midTurn])].filter(isFree).sort(inTreeOrder);
}

function limitReached({ deadline, clock }: LeafRunOptions, stepsSpent: boolean): 'max_steps' | 'error' | undefined {
  if (stepsSpent) return 'max_steps';
  return deadline !== undefined && timeOf(clock) >= deadline ? 'error' : undefined;
}

/**
 * Whether the step just made was the last, unless a message comes in. Suspended leaves are reported by a separate step.
 */
function isDone(machine: LiveMachine, options: LeafRunOptions): boolean {
  const isQuiet = activeLeaves(machine, options).length === 0 && machine.index.suspended.size === 0;
  return isQuiet && machine.tree.queue.length === 0 && machine.commands.isFree;
}

function restingReason({ index }: LiveMachine): 'awaiting_resume' | 'end_turn' {
  return index.suspended.size > 0 ? 'awaiting_resume' : 'end_turn';
}

/**
 * Delivers queued messages to the conversation, after the reply in progress and never between a call and its result.
 */
function deliver(machine: LiveMachine, plan: Plan, more: readonly QueuedMessage[] = []): void {
  const { queue, speaker: id } = plan.tree;
  if (queue.length + more.length === 0) return;
  const speaker = findInstance(plan.tree, id);
  const thread = speaker === undefined ? undefined : machine.threadOf(speaker);
  if (speaker === undefined || thread === undefined || !canHear(speaker, thread)) {
    for (const message of more) plan.apply({ kind: 'queued', message });
    return;
  }
  const entries = [...queue, ...more].map(({ message }): Entry => ({ kind: 'message', message }));
  plan.say(thread.id, entries, { instanceId: speaker.id, node: speaker.node });
  const wakes = more.some(({ silent }) => !silent);
  plan.apply({ kind: 'delivered', count: queue.length, ...(wakes ? { wakes } : {}) });
}

function canHear({ phase }: Instance, thread: Thread): boolean {
  return phase.kind !== 'suspended' && !thread.inFlight && !thread.isMidBatch;
}

function messagesOf(input: RunMachineOptions['input']): readonly MachineMessage[] {
  if (input === undefined) return [];
  return Array.isArray(input) ? (input as readonly MachineMessage[]) : [input as MachineMessage];
}

/** One budget and one signal for all steps of the run. */
function shared(options: RunMachineOptions, left: AbortSignal): LeafRunOptions {
  const { budget, signal } = options;
  const runSignal = signal === undefined ? left : AbortSignal.any([signal, left]);
  return {
    ...options,
    sharedBudget: budget === undefined ? undefined : toBudget(budget),
    runSignal,
    relay: new AbortRelay(runSignal),
    ofTurns: passedOn(options),
  };
}

function toBudget(budget: NonNullable<TurnOptions['budget']>): Budget {
  return typeof budget === 'object' && budget !== null && 'exhausted' in budget ? budget : createBudget(budget);
}

function timeOf(clock: Clock | undefined): number {
  return clock?.now() ?? Date.now();
}

/** The result of a run. */
export interface MachineResult {
  /**
   * The primary's last answer; empty if it gave none. If nothing was left to do, it is the answer of the run before.
   * With `yieldReason: 'error'` reading it throws RunFailed, whose cause is `error`: a failed run must not look like one
   * with an empty answer.
   */
  readonly response: string;
  /** The value of the terminal tool that gave the response. Throws as `response` does. */
  readonly output: unknown;
  /** The reason of the last step. */
  readonly yieldReason: YieldReason;
  readonly steps: readonly MachineStep[];
  readonly suspended: readonly Suspension[];
  /** Why the run could not continue, with `yieldReason: 'error'`: the thrown error, or a RunFailed that explains it. */
  readonly error?: unknown;
}

/**
 * Runs a machine until there is nothing left to do, and returns its result. Rejects only for options that cannot work;
 * if the run failed, reading `response` throws.
 */
export async function runMachineToCompletion(machine: Machine, options: RunMachineOptions): Promise<MachineResult> {
  const steps: MachineStep[] = [];
  for await (const step of runMachine(machine, options)) steps.push(step);
  const last = steps.at(-1);
  const { suspended } = machine;
  if (last?.yieldReason === 'error') {
    const failed = { yieldReason: last.yieldReason, steps, suspended, error: last.error };
    return withoutAnswer(failed, whyFailed(last).message);
  }
  const spoke = steps.findLast(({ response }) => response !== undefined);
  const yieldReason = last?.yieldReason ?? 'end_turn';
  return { response: spoke?.response ?? '', output: spoke?.output, yieldReason, steps, suspended };
}
