import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EvalReport } from '@lastcall/core/eval';
import { type Command, InvalidArgumentError } from 'commander';
import { Api } from '../api.ts';
import { findEvalFiles } from '../eval/find-files.ts';
import { toJUnit } from '../eval/junit.ts';
import { differencesInWords, LastTasks, MOST_TASKS } from '../eval/last-tasks.ts';
import { reportInWords } from '../eval/report-in-words.ts';
import type { Draft } from '../eval/run-agent.ts';
import { Runner } from '../eval/runner.ts';
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
  readonly last?: number;
  readonly send?: boolean;
  readonly label?: string;
}

export function addEval(program: Command): void {
  const command = apiOptions(
    program
      .command('eval')
      .argument('[files...]', 'files *.eval.ts, or folders with them (default: all below here); with --last an agent'),
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
    .option(
      '--last <n>',
      'try an agent on its last tasks, with their recorded outcomes, and show what differs',
      readTasks,
    )
    .option('--send', 'send the results to the gateway: the studio shows them beside earlier versions')
    .option('--label <version>', 'the name of the version for --send (default: that of the configuration)')
    .option('--fresh', 'do not continue an evaluation that was interrupted')
    .option('--out <folder>', 'where reports are kept', '.lastcall/evals')
    .addHelpText('after', HELP)
    .action(run);
  addEvalAdd(command);
}

async function run(files: readonly string[], options: EvalCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  hookModules();
  const found = options.last === undefined ? await findEvalFiles(files, process.cwd()) : [];
  const baseline = options.baseline === undefined ? [] : await readReports(options.baseline);
  const interruption = new Interruption();
  const api = new Api({ url: options.url });
  const runner = new Runner({
    ...{ api, signal: interruption.signal, draft: await readDraft(options), out: options.out },
    ...{ parallel: options.parallel, repeat: options.repeat, isFresh: options.fresh ?? false },
    send: options.send === true ? { label: options.label } : undefined,
  });
  let tasks: LastTasks | undefined;
  try {
    if (options.last !== undefined) tasks = await LastTasks.read(api, agentOf(files), options.last);
    await tasks?.run(runner);
    for (const file of found) await runner.load(file);
  } catch (error) {
    if (!interruption.hasCome) throw error;
    const words = `Interrupted. ${runner.done} runs are kept: the same command continues with the others.\n`;
    // Runs that do not listen to the signal would keep the process alive until they end.
    process.stderr.write(words, () => process.exit(EXIT.interrupted));
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
  const differences = tasks?.differences(reports[0] as EvalReport);
  const printed = reports.length === 1 ? { ...reports[0], ...(differences && { differences }) } : reports;
  createOutput(options).result(printed, [...words, ...differencesInWords(differences)].join('\n\n'));
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
  return { model, instructions: text, file: instructions === undefined ? undefined : basename(instructions) };
}

/** With `--last`, the argument is an agent. */
function agentOf(given: readonly string[]): string {
  const [agent, ...others] = given;
  if (agent === undefined || others.length > 0)
    throw new CommandFailed('Name one agent: lastcall eval AGENT --last 10', { exitCode: EXIT.usage });
  return agent;
}

/** False if a score is below the threshold, or nothing worked. */
function isGood({ scores, passed, failed, samples }: EvalReport, min: number | undefined): boolean {
  const below = Object.entries(scores).filter(([, { mean }]) => mean < (min ?? 0));
  for (const [name, { mean }] of below)
    process.stderr.write(`${name} is ${mean.toFixed(3)}, which is below ${String(min)}.\n`);
  return below.length === 0 && passed !== false && failed < samples.length;
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

function readTasks(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > MOST_TASKS)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_TASKS}.`);
  return count;
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
"lastcall eval Desk --last 10 --instructions draft.md" tries a draft on the last tasks, and nothing acts outside.
Exit codes: 0 done, 1 below --min or nothing worked, 2 wrong usage, 3 no gateway answers or allows it, 130 interrupted.`;
