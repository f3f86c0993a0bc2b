import type {
  Clock,
  Journal,
  Logger,
  Middleware,
  NewId,
  Policy,
  ToolSet,
  TurnEvent,
  TurnOptions,
} from '@lastcall/core';
import { OptionsError } from '@lastcall/core';
import { assertJournal, assertKnownOptions, type KnownNames, knownNames } from '@lastcall/core/internal';
import type { Origin } from '../tree/log.ts';
import type { MachineMessage } from '../tree/message.ts';

type Model = TurnOptions['model'];

/** The leaf whose model is to be asked. */
export interface LeafToAsk extends Origin {
  readonly worker: boolean;
  /** The name of a model, if the leaf's node gives one. */
  readonly model?: string;
}

export interface RunMachineOptions {
  /**
   * The model of all leaves, or a function that returns the model of a leaf. A node's own model takes precedence; if the
   * node names one, the function gets the name.
   */
  model: Model | ((leaf: LeafToAsk) => Model);
  /** Wraps the model of a leaf, whether the run or its node gives it. Called before each request. */
  wrapModel?: (model: Model, leaf: Origin & { readonly worker: boolean }) => Model;
  /** Messages to enqueue before the machine runs. */
  input?: MachineMessage | readonly MachineMessage[];
  /** How many steps this run may take. Default 50. */
  maxSteps?: number;
  /** Milliseconds since the epoch. */
  deadline?: number;
  /** For the whole run, all leaves together. */
  budget?: NonNullable<TurnOptions['budget']>;
  signal?: AbortSignal;
  /**
   * Stores the run as it happens, for `machineFromRecords`. What it has accepted is durable; if it rejects, the run stops
   * with its error, and nothing that it refused counts.
   */
  journal?: Journal;
  batch?: NonNullable<TurnOptions['batch']>;
  middleware?: readonly Middleware[];
  policies?: readonly Policy[];
  /** The tools of a leaf, from those that the charter gives it. Return the same set for the same leaf tools: core describes each once. */
  tools?: (own: ToolSet, leaf: Origin & { readonly worker: boolean }) => ToolSet;
  /** The instructions of a leaf, from those that the charter gives it. Called before each request. */
  instructions?: (own: string, leaf: Origin & { readonly worker: boolean }) => string;
  /** Appended as the last message of each request, and never stored. */
  observe?: () => string;
  /** Receives the leaves' events as they happen: core's events, with the instance they belong to. */
  onEvent?: (event: TurnEvent & Origin) => void;
  clock?: Clock;
  newId?: NewId;
  logger?: Logger;
  modelRetries?: number;
  modelSettings?: TurnOptions['modelSettings'];
  /** What happens to a call whose answer comes when the run is aborted or out of time already: see `TurnOptions`. */
  unusedAnswers?: NonNullable<TurnOptions['unusedAnswers']>;
}

export const DEFAULT_MAX_STEPS = 50;

/** Refuses options that cannot work, before anything runs. Core checks the rest and names the field. */
export function checkRunOptions(options: RunMachineOptions): void {
  if (typeof options !== 'object' || options === null) throw new OptionsError('options', 'must be an object.');
  assertKnownOptions(options, RUN);
  const { model, maxSteps, signal, deadline } = options;
  if (typeof model !== 'function' && (typeof model !== 'object' || model === null))
    throw new OptionsError('model', 'must be an AI SDK language model, or a function of the leaf that gives one.');
  if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps >= 1))
    throw new OptionsError('maxSteps', `must be a whole number of 1 or more, not ${String(maxSteps)}.`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new OptionsError('signal', 'must be an AbortSignal.');
  if (deadline !== undefined && !Number.isFinite(deadline))
    throw new OptionsError('deadline', `must be a time in milliseconds, not ${String(deadline)}.`);
  for (const [name, { isRight, expected }] of Object.entries(SHAPES)) {
    const value: unknown = options[name as keyof RunMachineOptions];
    if (value !== undefined && !isRight(value)) throw new OptionsError(name, expected);
  }
  assertJournal(options.journal);
}

const RUN: KnownNames = knownNames<RunMachineOptions>(
  {
    model: true,
    input: true,
    wrapModel: true,
    maxSteps: true,
    deadline: true,
    budget: true,
    signal: true,
    journal: true,
    batch: true,
    middleware: true,
    policies: true,
    tools: true,
    instructions: true,
    observe: true,
    onEvent: true,
    clock: true,
    newId: true,
    logger: true,
    modelRetries: true,
    modelSettings: true,
    unusedAnswers: true,
  },
  { prompt: 'input', message: 'input', messages: 'input', abortSignal: 'signal', maxRetries: 'modelRetries' },
);

interface Shape {
  readonly isRight: (value: unknown) => boolean;
  readonly expected: string;
}

const anObject: Shape = {
  isRight: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  expected: 'must be an object.',
};
const aFunction: Shape = { isRight: (value) => typeof value === 'function', expected: 'must be a function.' };
const anArray: Shape = { isRight: Array.isArray, expected: 'must be an array.' };

// Core would refuse most of them too, but only when the first leaf runs, and by that time the run has begun.
const SHAPES: Readonly<Partial<Record<keyof RunMachineOptions, Shape>>> = {
  batch: anObject,
  middleware: anArray,
  policies: anArray,
  wrapModel: aFunction,
  tools: aFunction,
  instructions: aFunction,
  observe: aFunction,
  onEvent: aFunction,
  clock: anObject,
  newId: aFunction,
  logger: anObject,
  modelSettings: anObject,
  modelRetries: {
    isRight: (value) => Number.isInteger(value) && (value as number) >= 0,
    expected: 'must be a whole number of 0 or more.',
  },
};
