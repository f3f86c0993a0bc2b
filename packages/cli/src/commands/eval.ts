import { readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EvalOptions, type EvalReport, hostEvaluations, namedCases, runCases } from '@lastcall/core/eval';
import { type Command, InvalidArgumentError } from 'commander';
import { Api } from '../api.ts';
import { findEvalFiles } from '../eval/find-files.ts';
import { toJUnit } from '../eval/junit.ts';
import { KeptResults } from '../eval/kept-results.ts';
import { ProgressBar } from '../eval/progress-bar.ts';
import { reportInWords } from '../eval/report-in-words.ts';
import { agentRunner, type Draft } from '../eval/run-agent.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { hookModules } from '../module-hooks.ts';
import { createOutput } from '../terminal/output.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';
import { addEvalAdd } from './eval-add.ts';

interface EvalCommandOptions extends ApiCommandOptions {
  readonly junit?: string;
  readonly baseline?: string;
  readonly min?: number;
  readonly parallel?: number;
  readonly repeat?: number;
  readonly fresh?: boolean;
  readonly out: string;
  readonly model?: string;
  readonly instructions?: string;
}

export function addEval(program: Command): void {
  const command = apiOptions(
    program.command('eval').argument('[files...]', 'files *.eval.ts, or folders with them (default: all below here)'),
  )
    .description('Run evaluations: give tasks to an agent, and score what it does.')
    .option('--min <share>', 'exit with 1 if the mean of a score is below this, e.g. 0.9', readShare)
    .option('--baseline <file>', 'compare with the report of an earlier evaluation')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--parallel <n>', 'how many cases run at once', readCount)
    .option('--repeat <n>', 'how often each case is run', readCount)
    .option('--model <name>', "use this model in place of the agent's, for cases of recorded runs")
    .option(
      '--instructions <file>',
      "use the instructions in this file in place of the agent's, for cases of recorded runs",
    )
    .option('--fresh', 'do not continue an evaluation that was interrupted')
    .option('--out <folder>', 'where reports are kept', '.lastcall/evals')
    .addHelpText('after', HELP)
    .action(run);
  addEvalAdd(command);
}

async function run(files: readonly string[], options: EvalCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  hookModules();
  const found = await findEvalFiles(files, process.cwd());
  const baseline = options.baseline === undefined ? [] : await readReports(options.baseline);
  const interruption = new Interruption();
  const runner = new Runner(options, { signal: interruption.signal, draft: await readDraft(options) });
  try {
    for (const file of found) await runner.load(file);
  } catch (error) {
    if (!interruption.hasCome) throw error;
    process.stderr.write(`Interrupted. ${runner.done} runs are kept: the same command continues with the others.\n`);
    process.exitCode = EXIT.interrupted;
    return;
  }
  const { reports } = runner;
  if (reports.length === 0)
    throw new CommandFailed(`No evaluate() was called in ${found.map((file) => basename(file)).join(', ')}.`);
  const words = reports.map((report) =>
    reportInWords(
      report,
      baseline.find(({ name }) => name === report.name),
    ),
  );
  createOutput(options).result(reports.length === 1 ? reports[0] : reports, words.join('\n\n'));
  if (options.junit !== undefined) await writeFile(options.junit, toJUnit(reports, options.min ?? 1));
  process.exitCode = reports.every((report) => isGood(report, options.min)) ? EXIT.done : EXIT.failed;
}

async function readDraft({ model, instructions }: EvalCommandOptions): Promise<Draft> {
  const text =
    instructions === undefined
      ? undefined
      : await readFile(instructions, 'utf8').catch((cause: Error) => {
          throw new CommandFailed(`The instructions cannot be read: ${cause.message}`, { exitCode: EXIT.usage, cause });
        });
  return { model, instructions: text };
}

/** False if a score is below the threshold, or nothing worked. */
function isGood({ scores, passed, failed, samples }: EvalReport, min: number | undefined): boolean {
  const below = Object.entries(scores).filter(([, { mean }]) => mean < (min ?? 0));
  for (const [name, { mean }] of below)
    process.stderr.write(`${name} is ${mean.toFixed(3)}, which is below ${String(min)}.\n`);
  return below.length === 0 && passed !== false && failed < samples.length;
}

/** Runs the evaluations of the files that it loads. */
class Runner {
  readonly reports: EvalReport[] = [];
  /** The number of runs that are kept of an evaluation that has not ended. */
  done = 0;
  readonly #options: EvalCommandOptions;
  readonly #signal: AbortSignal;
  readonly #api: Api;
  readonly #draft: Draft;

  constructor(options: EvalCommandOptions, { signal, draft }: { readonly signal: AbortSignal; readonly draft: Draft }) {
    this.#options = options;
    this.#signal = signal;
    this.#draft = draft;
    this.#api = new Api({ url: options.url });
  }

  async load(file: string): Promise<void> {
    const started: Promise<EvalReport>[] = [];
    let count = 0;
    const host = {
      run: (options: EvalOptions): Promise<EvalReport> => {
        const name = options.name ?? basename(file).replace(/\.eval\.\w+$/, '') + (count++ === 0 ? '' : ` ${count}`);
        const running = this.#run({ ...options, name }, name);
        started.push(running);
        return running;
      },
    };
    await hostEvaluations(host, async () => {
      await import(pathToFileURL(file).href);
      // A file may call evaluate() without waiting for it.
      await Promise.all(started);
    });
  }

  async #run(given: EvalOptions, name: string): Promise<EvalReport> {
    const { parallel, repeat = given.repeat, fresh = false, out } = this.#options;
    const options = { ...given, ...(repeat === undefined ? {} : { repeat }) };
    const kept = new KeptResults(resolve(out), name);
    const cases = await namedCases(options);
    const identity = {
      cases,
      scores: Object.keys(options.scores),
      agent: typeof options.agent === 'string' ? options.agent : '',
      draft: this.#draft,
    };
    const before = await kept.begin(identity, { isFresh: fresh });
    if (before.length > 0)
      process.stderr.write(
        `${name}: continues with ${before.length} runs that were done before. Use --fresh to start again.\n`,
      );
    const bar = new ProgressBar(name);
    try {
      const report = await runCases(
        { ...options, cases },
        {
          ...{ parallel, signal: this.#signal, done: before, runAgent: agentRunner(this.#api, this.#draft) },
          onSample: async (sample, progress) => {
            await kept.add(sample);
            this.done = progress.done;
            bar.show(progress);
          },
        },
      );
      await kept.end(report);
      this.reports.push(report);
      return report;
    } catch (error) {
      bar.leave();
      throw error;
    }
  }
}

/** The first Ctrl+C ends the evaluation, and keeps what is done. The second one exits at once. */
class Interruption {
  hasCome = false;
  readonly #aborting = new AbortController();

  constructor() {
    process.on('SIGINT', () => {
      if (this.hasCome) process.exit(EXIT.interrupted);
      this.hasCome = true;
      this.#aborting.abort(new CommandFailed('Interrupted.', { exitCode: EXIT.interrupted }));
    });
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }
}

/** A report, a list of reports as `--json` prints them, or the folder of them. */
async function readReports(path: string): Promise<readonly EvalReport[]> {
  try {
    const value: unknown = JSON.parse(await readFile(join(path), 'utf8'));
    const reports = Array.isArray(value) ? value : [value];
    if (reports.every((one) => typeof one?.name === 'string' && Array.isArray(one?.samples)))
      return reports as EvalReport[];
  } catch (cause) {
    throw new CommandFailed(`The baseline "${path}" cannot be read: ${(cause as Error).message}`, {
      exitCode: EXIT.usage,
      cause,
    });
  }
  throw new CommandFailed(
    `"${path}" is not the report of an evaluation. Use a file of .lastcall/evals, or what --json printed.`,
    {
      exitCode: EXIT.usage,
    },
  );
}

function readShare(text: string): number {
  const share = Number(text);
  if (text.trim() === '' || !(share >= 0 && share <= 1))
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return share;
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 10_000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 10,000.');
  return count;
}

const HELP = `
A file to start with, desk.eval.ts:

  import { contains, evaluate } from '@lastcall/core/eval';

  await evaluate({
    agent: 'Desk', // an agent of the gateway; or run: (input) => …
    cases: [{ name: 'hours', input: 'When are you open?', expected: '9 to 5' }],
    scores: { answer: contains() },
  });

Agents of the gateway act for real, except in cases of recorded runs: "lastcall eval add RUN" writes one.
Exit codes: 0 done, 1 below --min or nothing worked, 2 wrong usage, 130 interrupted.`;
