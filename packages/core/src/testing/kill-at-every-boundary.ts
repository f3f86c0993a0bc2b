import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { PendingCall, TurnResult } from '../contract/turn-result.ts';
import { LastcallError } from '../errors.ts';
import { liftModel } from '../model/lift-model.ts';
import type { NewId } from '../new-id.ts';
import type { Answer } from '../results/answer.ts';
import { errorText } from '../results/describe-error.ts';
import { createSession } from '../session/create-session.ts';
import type { Session } from '../session/session.ts';
import { SessionLayer } from '../session/session-layer.ts';
import type { Entry } from '../transcript/entry.ts';
import type { Journal } from '../transcript/journal.ts';
import { goesOn, readProgress } from '../transcript/progress.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { JournalRecord } from '../turn/replay.ts';
import { isUndoingInterrupted } from '../turn/rewind.ts';
import { runNested, runTurn } from '../turn/run-turn.ts';
import { toPending, toTurnResult } from '../turn/to-turn-result.ts';
import { openTurn } from '../turn/turn.ts';
import type { TurnOptions } from '../turn/turn-options.ts';
import { crashOn, ProcessKilled } from './crashing-journal.ts';
import { memoryJournal, restoreTranscript } from './memory-journal.ts';
import { problemOfEntries, problemOfMessages } from './valid-history.ts';

/**
 * A turn to be killed, and the world around it. The world (which `effects` reports) outlives a crash; everything else
 * is created again for each life of the process.
 */
export interface CrashScenario {
  /** The tools, the prompt, the limits. */
  turn: () => Omit<TurnOptions, 'model' | 'session' | 'transcript' | 'answers' | 'journal' | 'parent'>;
  /** `replies` is how many replies are kept from earlier lives: `scriptedModel(script.slice(replies))`. */
  model: (replies: number) => TurnOptions['model'];
  /** The session before the turn. Default: an empty one. */
  session?: () => Session;
  /** The answer to a call that waits. Undefined: there is no answer, and the call keeps waiting. */
  answer?: (call: PendingCall) => Answer | undefined;
  /**
   * Opens the place where the turn is stored, once for each life of the process: the same place within a scenario, and
   * an empty one for each scenario. Default: in memory.
   */
  journal?: () => { readonly journal: Journal; records(): readonly JournalRecord[] };
  /** What happened in the world, each effect as a separate text: none may happen twice. */
  effects?: () => readonly string[];
}

export interface CrashReport {
  /** How many writes the scenario makes without a crash. */
  readonly boundaries: number;
  readonly tries: readonly CrashTry[];
}

/**
 * One crash. `same`: the end equals that of a run without a crash. `unknown_outcome`: it is not known whether a call
 * had run, or had been undone.
 */
export interface CrashTry {
  readonly boundary: number;
  readonly when: 'before' | 'after';
  readonly outcome: 'same' | 'unknown_outcome';
}

/**
 * Runs a scenario once without a crash, then once for each of its writes to the journal, killing the process there,
 * before and after the write is kept, and continuing from what was kept. Throws, saying where and what, unless each
 * effect happens at most once, the history stays valid, and the end is the same or a call is `unknown_outcome`, or a
 * rewind could not tell whether it had undone one.
 */
export async function killAtEveryBoundary(scenario: () => CrashScenario): Promise<CrashReport> {
  let writes: readonly string[] = [];
  const unhurt = await live(withPlace(scenario()), (journal) => {
    const counted = crashOn(journal, Number.POSITIVE_INFINITY, 'before');
    writes = counted.writes;
    return counted;
  });
  assertSound(unhurt, 'Without a crash');
  const tries: CrashTry[] = [];
  for (const [index, write] of writes.entries()) {
    for (const when of ['before', 'after'] as const) {
      const boundary = index + 1;
      const where = `Killed ${when} write ${boundary} (${write})`;
      const end = await liveTwice(withPlace(scenario()), (journal) => crashOn(journal, boundary, when), where);
      assertSound(end, where);
      if (!end.inDoubt) assertSame(end, unhurt, where);
      tries.push({ boundary, when, outcome: end.inDoubt ? 'unknown_outcome' : 'same' });
    }
  }
  return { boundaries: writes.length, tries };
}

/** A scenario that has a journal. */
type PlacedScenario = CrashScenario & Required<Pick<CrashScenario, 'journal'>>;

function withPlace(scenario: CrashScenario): PlacedScenario {
  const memory = memoryJournal();
  return { ...scenario, journal: scenario.journal ?? (() => ({ journal: memory, records: () => memory.records })) };
}

/** The end of a scenario. */
interface End {
  readonly result: TurnResult;
  readonly entries: readonly Entry[];
  /** The states of the session's slices, and what they were at first, by name. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly initial: Readonly<Record<string, unknown>>;
  readonly effects: readonly string[];
  readonly inDoubt: boolean;
}

type Wrap = (journal: Journal) => Journal;

/** A life that ends at the journal's boundary, and another that continues from what was kept. */
async function liveTwice(scenario: PlacedScenario, crash: Wrap, where: string): Promise<End> {
  try {
    return await live(scenario, crash);
  } catch (error) {
    if (!(error instanceof ProcessKilled)) throw broken(where, `the turn failed: ${errorText(error)}`, error);
  }
  try {
    return await live(scenario, (journal) => journal);
  } catch (error) {
    throw broken(where, `the turn could not go on: ${errorText(error)}`, error);
  }
}

/** One process: from what is kept to the end of the turn, answering the calls that wait. */
async function live(scenario: PlacedScenario, wrap: Wrap): Promise<End> {
  const kept = scenario.journal();
  const journal = wrap(kept.journal);
  const session = scenario.session?.() ?? createSession();
  const transcript = restoreTranscript(session, kept.records());
  const { prompt, messages, ...turn } = scenario.turn();
  const said = { ...(prompt === undefined ? {} : { prompt }), ...(messages === undefined ? {} : { messages }) };
  const replies = transcript.entries.filter(({ kind }) => kind === 'reply').length;
  const model = checkRequests(scenario.model(replies));
  const options: TurnOptions = { newId: countOn(transcript), ...turn, model, session, transcript, journal };
  const begin = transcript.entries.length === 0 ? said : answersTo(scenario, askedOf(transcript));
  let result = await resultOf(options, begin);
  for (let more = answersTo(scenario, result.pending); more !== undefined; more = answersTo(scenario, result.pending))
    result = await runTurn({ ...options, ...more });
  return toEnd(scenario, result, session, kept.records());
}

/** A turn that a limit had stopped is left as it is: to continue it would be a new allowance. */
async function resultOf(options: TurnOptions, begin: Partial<TurnOptions> | undefined): Promise<TurnResult> {
  const stop = options.transcript?.progress.stop;
  if (stop === undefined || goesOn(stop) || begin?.answers !== undefined)
    return await runTurn({ ...options, ...begin });
  const turn = openTurn(options, runNested);
  turn.limit.stop();
  return toTurnResult(turn, stop);
}

/** The calls that were waiting for an answer before the crash, because their turn had stopped. */
function askedOf({ entries }: Transcript): readonly PendingCall[] {
  const stopped = entries.slice(0, entries.findLastIndex(({ kind }) => kind === 'stop') + 1);
  const waiting = readProgress(entries).waiting;
  return [...readProgress(stopped).waiting.keys()].flatMap((callId) => {
    const settlement = waiting.get(callId)?.settlement;
    return settlement === undefined ? [] : [toPending(settlement)];
  });
}

function answersTo(
  { answer }: CrashScenario,
  pending: readonly PendingCall[],
): { answers: Record<string, Answer> } | undefined {
  const answers: Record<string, Answer> = {};
  for (const call of pending) {
    const given = answer?.(call);
    if (given !== undefined) answers[call.callId] = given;
  }
  return Object.keys(answers).length === 0 ? undefined : { answers };
}

function toEnd(scenario: CrashScenario, result: TurnResult, session: Session, records: readonly JournalRecord[]): End {
  const entries = records.map(({ entry }) => entry);
  const { root } = SessionLayer.of(session).state;
  return {
    result,
    entries,
    state: Object.fromEntries(root.map(({ slice, state }) => [slice.name, state])),
    initial: Object.fromEntries(root.map(({ slice }) => [slice.name, slice.initial])),
    effects: [...(scenario.effects?.() ?? [])],
    inDoubt: entries.some(isInDoubt),
  };
}

function isInDoubt(entry: Entry): boolean {
  if (entry.kind === 'rewind') return entry.remaining.some(isUndoingInterrupted);
  if (entry.kind !== 'settled') return false;
  const { outcome } = entry.settlement;
  return outcome.status === 'error' && outcome.code === 'unknown_outcome';
}

/** Ids that continue after the kept ones, so that a call has the same id in every attempt. */
function countOn(transcript: Transcript): NewId {
  let last = transcript.entries.reduce((sum, entry) => sum + (entry.kind === 'reply' ? entry.calls.length : 0), 0);
  return () => `call-${++last}`;
}

/** The model, refusing requests that a provider would refuse. */
function checkRequests(given: TurnOptions['model']): LanguageModelV4 {
  const model = liftModel(given);
  const checked = (request: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const problem = problemOfMessages(request.prompt);
    if (problem === undefined) return request;
    throw new LastcallError('invalid_history', `A provider would refuse this: ${problem}.`);
  };
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (request) => await model.doGenerate(checked(request)),
    doStream: async (request) => await model.doStream(checked(request)),
  };
}

function assertSound(end: End, where: string): void {
  const problem = problemOfEntries(end.entries) ?? problemOfMessages(end.result.transcript.view());
  if (problem !== undefined) throw broken(where, `the history is not valid: ${problem}`);
  const twice = end.effects.find((effect, index) => end.effects.indexOf(effect) !== index);
  if (twice !== undefined) throw broken(where, `this happened twice: ${twice}`);
}

function assertSame(end: End, unhurt: End, where: string): void {
  const parts = ({ result, effects }: End, state: unknown): [string, unknown][] => [
    ['stop is', result.stop],
    ['response is', result.response],
    ['output is', result.output],
    ['state of the session is', state],
    ['effects are', effects],
  ];
  const expected = parts(unhurt, statesOf(unhurt, end));
  for (const [index, [what, value]] of parts(end, statesOf(end, unhurt)).entries()) {
    const [is, was] = [JSON.stringify(value), JSON.stringify(expected[index]?.[1])];
    if (is !== was) throw broken(where, `the ${what} different: ${is} and not ${was}`);
  }
}

/**
 * The states of all slices that either session has, in the order of their names. Slices are registered when they are first used, so a
 * process that began late may not have those that never changed.
 */
function statesOf({ state }: End, { initial }: End): Readonly<Record<string, unknown>> {
  const all = Object.entries({ ...initial, ...state });
  return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function broken(where: string, problem: string, cause?: unknown): LastcallError {
  return new LastcallError('crash_unsafe', `${where}, ${problem}.`, cause === undefined ? undefined : { cause });
}
