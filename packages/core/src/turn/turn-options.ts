import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Middleware } from '../contract/middleware.ts';
import type { ToolContext } from '../contract/tool-context.ts';
import { assertToolSet, type ToolSet } from '../contract/tool-set.ts';
import type { BatchOptions, RewindOptions, TurnSettings } from '../contract/turn-settings.ts';
import { assertPolicies } from '../dispatch/dispatch-options.ts';
import { OptionsError } from '../errors.ts';
import type { LanguageModelV3Like } from '../model/lift-model.ts';
import { assertModel } from '../model/supported-model.ts';
import { assertJournal, type Journal } from '../transcript/journal.ts';
import { type Message, toModelMessages } from '../transcript/message.ts';
import { messageShape } from '../transcript/message-shape.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';

export interface TurnOptions<T extends ToolSet = ToolSet> extends TurnSettings<T> {
  model: LanguageModelV4 | LanguageModelV3Like;
  middleware?: readonly Middleware[];
  journal?: Journal;
  /** The context of the call that runs this turn: see ToolContext.runTurn. */
  parent?: ToolContext;
  /**
   * What happens to a call whose answer comes when the turn is aborted or out of time already: it keeps waiting, so that the answer can be
   * given again (the default), or it ends with that error, for a host that gives each answer once.
   */
  unusedAnswers?: 'keep' | 'end';
}

/** Refuses values that cannot work before any model call, and names the field. */
export function checkTurnOptions(options: TurnOptions): void {
  if (typeof options !== 'object' || options === null) throw new OptionsError('options', 'must be an object.');
  assertKnownOptions(options, TURN);
  assertModel(options.model);
  checkShapes(options);
  assertKnownOptions(options.batch, BATCH, 'batch.');
  assertKnownOptions(options.rewind, REWIND, 'rewind.');
  oneOf('onPending', options.onPending, ['suspend', 'continue']);
  oneOf('unusedAnswers', options.unusedAnswers, ['keep', 'end']);
  oneOf('batch.onError', options.batch?.onError, ['continue', 'cancel-rest']);
  oneOf('batch.afterTerminal', options.batch?.afterTerminal, ['skip', 'run']);
  oneOf('batch.transitions', options.batch?.transitions, ['in-place', 'last']);
  oneOf('batch.history', options.batch?.history, ['keep', 'trim']);
  wholeNumber('maxSteps', options.maxSteps, 1);
  wholeNumber('rewind.max', options.rewind?.max, 0);
  wholeNumber('modelRetries', options.modelRetries, 0);
  checkReserves(options);
  // Checked before anything is recorded, so that a caller who corrects the mistake starts from the same place.
  if (typeof options.tools === 'object') assertToolSet(options.tools, 'Option "tools"');
  if (options.messages !== undefined) checkMessages(options.messages);
  if (options.policies !== undefined) assertPolicies(options.policies);
}

/** A message whose parts have another form, such as the AI SDK's own, could be stored but never read back. */
function checkMessages(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    const flaw = Array.isArray(message?.content) ? messageShape(message) : undefined;
    if (flaw !== undefined) throw new OptionsError(`messages[${index}]${flaw.at}`, flaw.problem);
  }
  toModelMessages(messages);
}

/** A model without a message makes something up, or its provider refuses the request with an unclear error. */
export function assertSomethingSaid({ prompt, messages, transcript, observe }: TurnOptions): void {
  if (prompt !== undefined || (messages !== undefined && messages.length > 0)) return;
  const isSaid = transcript?.entries.some(({ kind }) => kind === 'message' || kind === 'reply') === true;
  if (isSaid || (observe !== undefined && observe() !== '')) return;
  const what = transcript === undefined ? 'is missing' : 'is missing, and the transcript has no messages';
  throw new OptionsError('prompt', `${what}: give a prompt, messages, or a transcript with messages.`);
}

const TURN: KnownNames = knownNames<TurnOptions>(
  {
    model: true,
    instructions: true,
    params: true,
    prompt: true,
    messages: true,
    transcript: true,
    answers: true,
    tools: true,
    session: true,
    batch: true,
    terminating: true,
    onPending: true,
    rewind: true,
    observe: true,
    onEvent: true,
    onStepFinish: true,
    maxSteps: true,
    deadline: true,
    budget: true,
    reserveMs: true,
    reserveTokens: true,
    signal: true,
    middleware: true,
    policies: true,
    journal: true,
    clock: true,
    newId: true,
    logger: true,
    modelRetries: true,
    modelSettings: true,
    parent: true,
    unusedAnswers: true,
  },
  {
    system: 'instructions',
    systemPrompt: 'instructions',
    systemMessage: 'instructions',
    input: 'prompt',
    abortSignal: 'signal',
    timeout: 'deadline',
    timeoutMs: 'deadline',
    maxTurns: 'maxSteps',
    maxIterations: 'maxSteps',
    stopWhen: 'maxSteps',
    maxRetries: 'modelRetries',
    toolChoice: 'modelSettings.toolChoice',
    temperature: 'modelSettings.temperature',
    maxTokens: 'modelSettings.maxOutputTokens',
    maxOutputTokens: 'modelSettings.maxOutputTokens',
    topP: 'modelSettings.topP',
    topK: 'modelSettings.topK',
    seed: 'modelSettings.seed',
    stopSequences: 'modelSettings.stopSequences',
    headers: 'modelSettings.headers',
    providerOptions: 'modelSettings.providerOptions',
  },
);
const BATCH: KnownNames = knownNames<BatchOptions>({
  onError: true,
  afterTerminal: true,
  transitions: true,
  history: true,
});
const REWIND: KnownNames = knownNames<RewindOptions>({ max: true, checkpoint: true, restore: true, stands: true });

function checkReserves({ reserveMs, reserveTokens, deadline, budget, parent }: TurnOptions): void {
  wholeNumber('reserveTokens', reserveTokens, 1);
  if (reserveTokens !== undefined && budget === undefined && parent === undefined)
    throw new OptionsError('reserveTokens', 'is reserved from a token budget, and there is none. Set budget.tokens.');
  if (reserveMs === undefined) return;
  if (!(Number.isFinite(reserveMs) && reserveMs > 0))
    throw new OptionsError('reserveMs', 'must be a number of milliseconds above 0.');
  if (deadline === undefined && parent === undefined)
    throw new OptionsError('reserveMs', 'is reserved before a deadline, and there is none. Set deadline.');
}

interface Shape {
  readonly isRight: (value: never) => boolean;
  readonly expected: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const aText: Shape = { isRight: isText, expected: 'must be a text.' };
const anObject: Shape = { isRight: isObject, expected: 'must be an object.' };
const anArray: Shape = { isRight: Array.isArray, expected: 'must be an array.' };
const aFunction: Shape = { isRight: (value) => typeof value === 'function', expected: 'must be a function.' };
const aTextOrPrompt: Shape = {
  isRight: (value) => isText(value) || isObject(value),
  expected: 'must be a text or come from prompt().',
};
const aTranscript: Shape = {
  isRight: (value: Transcript) => isObject(value) && typeof value.view === 'function',
  expected: 'must be a Transcript: Transcript.fromJSON(stored) makes one from stored JSON.',
};
const aClock: Shape = having('now', 'sleep');
const aLogger: Shape = having('debug', 'info', 'warn', 'error');

function having(...methods: string[]): Shape {
  return {
    isRight: (value: Record<string, unknown>) =>
      isObject(value) && methods.every((method) => typeof value[method] === 'function'),
    expected: `must have ${methods.map((method) => `${method}()`).join(' and ')}.`,
  };
}

// Each option is read by its own name and not from a table: every turn runs this, and lookups by varying names are
// slow.
function checkShapes(options: TurnOptions): void {
  check('instructions', options.instructions, aTextOrPrompt);
  check('params', options.params, anObject);
  check('prompt', options.prompt, aText);
  check('messages', options.messages, anArray);
  check('transcript', options.transcript, aTranscript);
  check('answers', options.answers, anObject);
  check('batch', options.batch, anObject);
  check('rewind', options.rewind, anObject);
  check('rewind.checkpoint', options.rewind?.checkpoint, aFunction);
  check('rewind.restore', options.rewind?.restore, aFunction);
  check('rewind.stands', options.rewind?.stands, aFunction);
  check('observe', options.observe, aFunction);
  check('onEvent', options.onEvent, aFunction);
  check('onStepFinish', options.onStepFinish, aFunction);
  assertJournal(options.journal);
  check('clock', options.clock, aClock);
  check('newId', options.newId, aFunction);
  check('logger', options.logger, aLogger);
  check('modelSettings', options.modelSettings, anObject);
}

function check(field: string, value: unknown, { isRight, expected }: Shape): void {
  if (value !== undefined && !isRight(value as never)) throw new OptionsError(field, expected);
}

function oneOf(field: string, value: unknown, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value as string)) {
    throw new OptionsError(
      field,
      `must be ${allowed.map((one) => `'${one}'`).join(' or ')}, not ${JSON.stringify(value)}.`,
    );
  }
}

function wholeNumber(field: string, value: number | undefined, least: number): void {
  if (value !== undefined && !(Number.isInteger(value) && value >= least)) {
    throw new OptionsError(field, `must be a whole number of ${least} or more, not ${String(value)}.`);
  }
}
