import type { Clock } from '../clock.ts';
import { systemClock } from '../defaults.ts';
import { deferred } from '../deferred.ts';
import { OptionsError } from '../errors.ts';
import { addUsage, noUsage } from '../model/usage.ts';
import { errorText } from '../results/describe-error.ts';
import { runTurn } from '../turn/run-turn.ts';
import type {
  EvalCase,
  EvalOptions,
  EvalOutput,
  EvalReport,
  EvalSample,
  RunContext,
  Score,
  ScoreContext,
} from './evaluation.ts';
import { type Estimate, estimate, meanOf } from './statistics.ts';

/** How an evaluation is run, by the program that runs it. */
export interface RunOptions {
  /** Runs a case on an agent that the evaluation names. */
  readonly runAgent?: (agent: string, context: RunContext) => Promise<EvalOutput>;
  /** Samples that an interrupted evaluation has already. They are not run again. */
  readonly done?: readonly EvalSample[];
  /** Called with each new sample, and awaited: a sample that is stored here survives an interruption. */
  readonly onSample?: (sample: EvalSample, progress: Progress) => Promise<void> | void;
  readonly parallel?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** A case with its name. */
export type NamedCase = EvalCase & { readonly name: string };

const DEFAULT_PARALLEL = 4;

/** Runs all cases, several at once, and scores them. Rejects with the signal's reason if it is aborted. */
export async function runCases(options: EvalOptions, running: RunOptions = {}): Promise<EvalReport> {
  const { clock = systemClock, signal = new AbortController().signal } = running;
  const checked = checkOptions(options);
  const cases = await namedCases(checked);
  const { repeat = 1, name = 'evaluation' } = checked;
  const known = new Map((running.done ?? []).map((one) => [keyOf(one), one]));
  const wanted = cases.flatMap((one) => Array.from({ length: repeat }, (_, at) => ({ one, sample: at + 1 })));
  const samples: EvalSample[] = [];
  const start = clock.now();
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < wanted.length) {
      const index = next++;
      const { one, sample } = wanted[index] as (typeof wanted)[number];
      signal.throwIfAborted();
      const before = known.get(keyOf({ case: one.name, sample }));
      const run = (): Promise<EvalSample> => runSample(checked, { case: one, sample, signal }, { ...running, clock });
      // What runs may not listen to the signal. A run that was interrupted tells nothing about its case.
      const found = before ?? (await unlessAborted(run(), signal));
      signal.throwIfAborted();
      samples[index] = found;
      done++;
      if (before === undefined) await running.onSample?.(found, { done, total: wanted.length });
    }
  };
  const parallel = running.parallel ?? checked.parallel ?? DEFAULT_PARALLEL;
  await Promise.all(Array.from({ length: Math.min(parallel, wanted.length) }, work));
  return reportOf(samples, { name, scores: Object.keys(checked.scores), min: checked.min, ms: clock.now() - start });
}

/** Rejects as soon as the signal is aborted. What was begun goes on, and its result is not used. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferred<true>();
  const abort = (): void => aborted.resolve(true);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
    signal.throwIfAborted();
    return await work;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function keyOf({ case: name, sample }: Pick<EvalSample, 'case' | 'sample'>): string {
  return JSON.stringify([name, sample]);
}

/** The cases with their names, as a runner needs them to tell whether an interrupted evaluation was the same. */
export async function namedCases({ cases }: Pick<EvalOptions, 'cases'>): Promise<readonly NamedCase[]> {
  if (typeof cases === 'string')
    throw new OptionsError(
      'cases',
      `names "${cases}", an evaluation of a gateway. Run the evaluation with "lastcall eval".`,
    );
  const given = typeof cases === 'function' ? await cases() : cases;
  if (!Array.isArray(given) || given.length === 0)
    throw new OptionsError('cases', 'must be a list with at least one case.');
  const named = given.map((one: EvalCase, at) => ({ ...one, name: one.name ?? `case ${at + 1}` }));
  const seen = new Set<string>();
  const twice = named.find(({ name }) => seen.size === seen.add(name).size);
  if (twice !== undefined)
    throw new OptionsError('cases', `must have different names. There are two of "${twice.name}".`);
  return named;
}

function checkOptions(options: EvalOptions): EvalOptions {
  if (typeof options !== 'object' || options === null) throw new OptionsError('options', 'must be an object.');
  const { agent, run, scores, repeat, parallel, min } = options;
  if ((agent === undefined) === (run === undefined))
    throw new OptionsError('agent', 'or run must be given, and not both.');
  if (typeof scores !== 'object' || scores === null || Object.keys(scores).length === 0)
    throw new OptionsError('scores', 'must have at least one score, by its name.');
  for (const [name, score] of Object.entries(scores))
    if (typeof score !== 'function') throw new OptionsError(`scores.${name}`, 'must be a function, such as exact().');
  for (const [name, value] of Object.entries({ repeat, parallel }))
    if (value !== undefined && (!Number.isInteger(value) || value < 1 || value > 10_000))
      throw new OptionsError(name, 'must be a whole number from 1 to 10,000.');
  if (min !== undefined && !(min >= 0 && min <= 1)) throw new OptionsError('min', 'must be a number from 0 to 1.');
  return options;
}

async function runSample(
  options: EvalOptions,
  context: RunContext,
  running: RunOptions & { readonly clock: Clock },
): Promise<EvalSample> {
  const { clock } = running;
  const start = clock.now();
  const base = { case: context.case.name ?? '', sample: context.sample };
  let output: EvalOutput;
  try {
    output = await runOnce(options, context, running);
  } catch (error) {
    return { ...base, scores: {}, error: errorText(error), ms: clock.now() - start };
  }
  const ms = clock.now() - start;
  const { response, settlements = [], usage, cost, stop, runId } = output;
  const seen: ScoreContext = {
    ...{ input: context.case.input, expected: context.case.expected, case: context.case, signal: context.signal },
    ...{ response, output: output.output, settlements, usage, cost, stop, ms },
  };
  const scored = await Promise.all(
    Object.entries(options.scores).map(async ([name, score]) => [name, await scoreOnce(score, seen)] as const),
  );
  const judgeUsage = scored.reduce((sum, [, one]) => addUsage(sum, one.usage ?? noUsage), noUsage);
  return {
    ...base,
    scores: Object.fromEntries(scored.map(([name, { usage: _, ...one }]) => [name, one])),
    response,
    calls: settlements.map(({ toolName, outcome }) => ({ toolName, status: outcome.status })),
    ms,
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
    ...(judgeUsage.totalTokens === 0 ? {} : { judgeUsage }),
    ...(runId === undefined ? {} : { runId }),
  };
}

async function runOnce(
  { agent, run }: EvalOptions,
  context: RunContext,
  { runAgent }: RunOptions,
): Promise<EvalOutput> {
  const { input } = context.case;
  if (run !== undefined) {
    const given = await run(input, context);
    const output = typeof given === 'string' ? { response: given } : given;
    if (typeof output?.response !== 'string')
      throw new TypeError('run must return a text, or what runTurn returns. What it returned has no response.');
    return output;
  }
  if (typeof agent === 'string') {
    if (runAgent === undefined)
      throw new OptionsError(
        'agent',
        `names "${agent}", an agent of a gateway. Run the evaluation with "lastcall eval".`,
      );
    return await runAgent(agent, context);
  }
  const prompt = typeof input === 'string' ? input : JSON.stringify(input);
  return await runTurn({ ...agent, prompt, signal: context.signal } as Parameters<typeof runTurn>[0]);
}

interface Scored {
  readonly value: number;
  readonly reason?: string;
  readonly usage?: NonNullable<EvalSample['usage']>;
}

/** A score that throws is 0, and says why: one wrong score must not lose the others. */
async function scoreOnce(score: Score, context: ScoreContext): Promise<Scored> {
  try {
    const given = await score(context);
    const { value, ...rest } = typeof given === 'object' ? given : { value: given };
    const number = Number(value);
    if (!Number.isFinite(number)) return { value: 0, reason: `The score is not a number, but ${String(value)}.` };
    // Means and their differences are read as parts of 1.
    if (number < 0 || number > 1) return { value: 0, reason: `The score must be from 0 to 1, and is ${number}.` };
    return { value: number, ...rest };
  } catch (error) {
    return { value: 0, reason: `The score failed: ${errorText(error)}` };
  }
}

interface Reporting {
  readonly name: string;
  readonly scores: readonly string[];
  readonly min: number | undefined;
  readonly ms: number;
}

function reportOf(samples: readonly EvalSample[], { name, scores, min, ms }: Reporting): EvalReport {
  const estimates = estimateScores(samples, scores);
  const costs = samples.flatMap(({ cost }) => cost ?? []);
  return {
    name,
    samples,
    scores: estimates,
    failed: samples.filter(({ error }) => error !== undefined).length,
    usage: samples.reduce(
      (sum, { usage = noUsage, judgeUsage = noUsage }) => addUsage(addUsage(sum, usage), judgeUsage),
      noUsage,
    ),
    ...(costs.length === 0 ? {} : { cost: costs.reduce((sum, one) => sum + one, 0) }),
    ms,
    ...(min === undefined ? {} : { passed: Object.values(estimates).every(({ mean }) => mean >= min) }),
  };
}

/** What scores need of a sample. */
export type ScoredSample = Pick<EvalSample, 'case' | 'scores'>;

/** The mean of each score over all cases, and the interval. A run that failed counts as 0. */
export function estimateScores(
  samples: readonly ScoredSample[],
  scores: readonly string[],
): Readonly<Record<string, Estimate>> {
  return Object.fromEntries(scores.map((score) => [score, estimate(valuesOf(samples, score))]));
}

/**
 * One value for each case: the mean of its samples, because runs of one case are not independent of each other. With one case alone, its
 * samples are all there is. A run that failed counts as 0.
 */
function valuesOf(samples: readonly ScoredSample[], score: string): readonly number[] {
  const [only, ...others] = [...valuesByCase(samples, score).values()];
  if (only === undefined) return [];
  return others.length === 0 ? only : [only, ...others].map(meanOf);
}

/** All values of a score, by the case. */
export function valuesByCase(samples: readonly ScoredSample[], score: string): ReadonlyMap<string, readonly number[]> {
  const byCase = new Map<string, number[]>();
  for (const sample of samples) {
    const known = byCase.get(sample.case) ?? [];
    known.push(sample.scores[score]?.value ?? 0);
    byCase.set(sample.case, known);
  }
  return byCase;
}
