import {
  type Answer,
  type Budget,
  type Entry,
  runTurn,
  type ToolSet,
  type TurnEvent,
  type TurnOptions,
  type TurnResult,
} from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import { MachineError } from '../errors.ts';
import type { TreeEntry } from '../tree/log.ts';
import type { ThreadEntry } from '../tree/machine-record.ts';
import { userMessage } from '../tree/message.ts';
import { pendingIn } from '../tree/open-calls.ts';
import type { Thread } from '../tree/thread.ts';
import { chainOf, type Instance, parentId } from '../tree/tree.ts';
import { base } from '../tree/view.ts';
import type { AbortRelay } from './abort-relay.ts';
import { claimFor, viewFor } from './actor.ts';
import { leafInstructions } from './leaf-instructions.ts';
import { leafJournal } from './leaf-journal.ts';
import { leafTools } from './leaf-tools.ts';
import { type LiveMachine, originOf } from './live-machine.ts';
import { type MachineContext, open } from './machine-context.ts';
import type { RunMachineOptions } from './machine-options.ts';
import type { Acting } from './recorder.ts';
import { isTransitionIn } from './transition-in.ts';

/** The outcome of a leaf: core's result, or the error that ended its turn. */
export interface LeafOutcome {
  readonly leaf: Instance;
  readonly thread: Thread;
  /** The index in its thread at which the step began. */
  readonly from: number;
  /** Whether its reply before this step was cut off too. */
  readonly wasCut: boolean;
  readonly changes: readonly TreeEntry[];
  /** The tools that it could call. */
  readonly tools: ToolSet;
  /** The dimension of the run's budget that is used up, if one is. */
  readonly spent: ReturnType<Budget['exhausted']>;
  readonly end:
    | { readonly kind: 'turn'; readonly result: TurnResult }
    | { readonly kind: 'failed'; readonly error: unknown };
}

/** What all leaves of a run share. */
export interface LeafRunOptions extends RunMachineOptions {
  readonly sharedBudget: Budget | undefined;
  readonly runSignal: AbortSignal;
  readonly relay: AbortRelay;
  /** The options that each turn gets as they are. */
  readonly ofTurns: PassedOn;
}

/** Runs one step of one leaf: one step of a core turn on its thread. Never rejects. */
export async function runLeaf(machine: LiveMachine, leaf: Instance, options: LeafRunOptions): Promise<LeafOutcome> {
  const thread = machine.threadOf(leaf);
  const answers = answersFor(leaf, thread);
  const changes = machine.underway.get(thread.id) ?? [];
  machine.underway.set(thread.id, changes);
  const wasCut = isCut(thread);
  const from = thread.logged;
  const { signal, leave } = options.relay.follow();
  let tools: ToolSet = {};
  const outcome = { leaf, thread, from, wasCut, changes };
  try {
    const beginning = begin(machine, leaf, thread, answers);
    if (beginning !== undefined) await beginning;
    tools = toolsOf(machine, leaf, options);
    const result = await runTurn(turnOptions(machine, leaf, { thread, answers, changes, tools, signal }, options));
    return { ...outcome, tools, spent: options.sharedBudget?.exhausted(), end: { kind: 'turn', result } };
  } catch (error) {
    return { ...outcome, tools, spent: undefined, end: { kind: 'failed', error } };
  } finally {
    leave();
  }
}

type Answers = Readonly<Record<string, Answer>>;

/** Continues a turn that is in progress or that waited for these answers; otherwise starts a new turn. */
function begin(machine: LiveMachine, leaf: Instance, thread: Thread, answers: Answers): undefined | Promise<void> {
  const { transcript } = thread;
  const entries: Entry[] = [];
  if (thread.isEmpty) entries.push({ kind: 'message', message: userMessage(opening(machine, leaf)) });
  // A suspended leaf that waits for nothing has nothing to continue: its calls ended without it.
  const waits = leaf.phase.kind === 'suspended' && leaf.waits.length > 0;
  const goesOn = thread.inFlight || thread.isMidTurn || waits;
  if (!goesOn && Object.keys(answers).length === 0) entries.push({ kind: 'turn' });
  const { recorder } = machine;
  if (recorder === undefined || entries.length === 0) {
    transcript.push(...entries);
    return undefined;
  }
  const [entry] = entries;
  if (entries.length === 1 && entry?.kind === 'turn') {
    thread.beginning = entry;
    transcript.push(entry);
    return undefined;
  }
  // Steps of a machine share a session: unlike a turn of core, they reset nothing in it.
  const marked = entries.map((entry) => (entry.kind === 'turn' ? KEEPING : entry));
  return Promise.resolve(recorder.append(marked, actingOn(thread, leaf))).then(() => transcript.push(...entries));
}

const KEEPING: Entry & Pick<ThreadEntry, 'session'> = Object.freeze({ kind: 'turn', session: 'kept' });

function actingOn({ id: thread }: Thread, leaf: Instance): Acting {
  return { ...originOf(leaf), thread };
}

/**
 * A conversation needs an opening message, because providers refuse a request without one. A worker's says for whom it
 * works; the user's, if a command made an instance speak before the user did, says just that.
 */
function opening({ tree }: LiveMachine, { id, worker }: Instance): string {
  if (!worker) return 'Begin. The user has not written yet: you write first.';
  const parent = chainOf(tree, parentId(id) ?? '')[0];
  return `Begin. You work for "${parent?.node}" (${parent?.id}). Your final answer is passed to it.`;
}

/** The answers for which their calls still wait: a call may have expired meanwhile. */
function answersFor({ waits }: Instance, thread: Thread): Answers {
  const answered = waits.filter(
    ({ callId, answer }) => answer !== undefined && pendingIn(thread.transcript.entries, callId) !== undefined,
  );
  return Object.fromEntries(answered.map(({ callId, answer }) => [callId, answer as Answer]));
}

function toolsOf({ charter, tree }: LiveMachine, leaf: Instance, { tools }: LeafRunOptions): ToolSet {
  const chain = chainOf(tree, leaf.id).map(({ node }) => node);
  const own = leafTools(charter, chain, leaf.worker);
  return tools === undefined ? own : tools(own, { ...originOf(leaf), worker: leaf.worker });
}

interface AtWork {
  readonly thread: Thread;
  readonly answers: Answers;
  readonly tools: ToolSet;
  readonly signal: AbortSignal;
  readonly changes: TreeEntry[];
}

function turnOptions(
  machine: LiveMachine,
  leaf: Instance,
  work: AtWork,
  options: LeafRunOptions,
): TurnOptions<ToolSet> {
  const { charter, tree } = machine;
  const origin = originOf(leaf);
  const began = machine.ledger.now;
  const view = viewFor(machine, leaf);
  const machineContext: MachineContext = {
    charter,
    tree: () => machine.tree,
    claim: (events) => claimFor(machine, leaf.id, began, events),
    suspended: leaf.waits.some(({ answer, toolName }) => answer === undefined && isTransitionIn(work.tools, toolName)),
    canSuspend: true,
  };
  open(view.actor, machineContext);
  base(work.thread.session, view);
  const { onEvent, sharedBudget, wrapModel } = options;
  const given = { ...origin, worker: leaf.worker };
  const model = modelFor(charter, leaf, options.model);
  work.thread.provider = typeof model === 'object' ? model.provider : undefined;
  const instructions = leafInstructions(charter, tree, leaf);
  return {
    ...options.ofTurns,
    model: wrapModel === undefined ? model : wrapModel(model, given),
    instructions: options.instructions === undefined ? instructions : options.instructions(instructions, given),
    tools: work.tools,
    session: work.thread.session,
    transcript: work.thread.transcript,
    answers: work.answers,
    maxSteps: 1,
    // Rewinding would undo the session, but not the tree.
    rewind: { max: 0 },
    // A transition applies to the state after its whole batch, and its result says what happened.
    batch: { ...options.batch, transitions: 'last' },
    journal: leafJournal(machine, leaf, { ...work, machineContext }),
    signal: work.signal,
    ...(sharedBudget === undefined ? {} : { budget: sharedBudget }),
    ...(onEvent === undefined ? {} : { onEvent: (event: TurnEvent) => onEvent({ ...event, ...origin }) }),
  };
}

function modelFor(charter: CompiledCharter, leaf: Instance, given: RunMachineOptions['model']): TurnOptions['model'] {
  const { model: own } = charter.node(leaf.node).definition;
  if (typeof own === 'object') return own;
  if (typeof given === 'function')
    return given({ ...originOf(leaf), worker: leaf.worker, ...(own === undefined ? {} : { model: own }) });
  if (own === undefined) return given;
  throw new MachineError(
    'machine',
    `"${leaf.node}" names the model "${own}". To look it up, give the run a function as its model.`,
  );
}

type PassedOn = Pick<
  TurnOptions,
  | 'observe'
  | 'deadline'
  | 'middleware'
  | 'policies'
  | 'clock'
  | 'newId'
  | 'logger'
  | 'modelRetries'
  | 'modelSettings'
  | 'unusedAnswers'
>;

const PASSED_ON: readonly (keyof PassedOn & keyof RunMachineOptions)[] = [
  'observe',
  'deadline',
  'middleware',
  'policies',
  'clock',
  'newId',
  'logger',
  'modelRetries',
  'modelSettings',
  'unusedAnswers',
];

export function passedOn(options: RunMachineOptions): PassedOn {
  const given = PASSED_ON.filter((key) => options[key] !== undefined);
  return Object.fromEntries(given.map((key) => [key, options[key]]));
}

/** Whether the last entry of the thread says that a reply was too long. */
export function isCut({ transcript }: Thread): boolean {
  const last = transcript.entries.findLast(({ kind }) => kind !== 'stop' && kind !== 'turn');
  return last?.kind === 'nudge' && last.why === 'length';
}
