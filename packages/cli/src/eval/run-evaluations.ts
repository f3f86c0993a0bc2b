import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EvalReport } from '@lastcall/core/eval';
import { Api } from '../api.ts';
import type { ApiCommandOptions } from '../commands/api-options.ts';
import { consoleToStderr } from '../console-to-stderr.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { makeFolderOf } from '../make-folder-of.ts';
import { hookModules } from '../module-hooks.ts';
import { createOutput } from '../terminal/output.ts';
import { findEvalFiles } from './find-files.ts';
import { toJUnit } from './junit.ts';
import { differencesInWords, LastTasks } from './last-tasks.ts';
import { reportInWords } from './report-in-words.ts';
import type { Draft } from './run-agent.ts';
import { Runner } from './runner.ts';

export interface EvalCommandOptions extends ApiCommandOptions {
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

/** Runs the evaluations of these files, or those of all files below this folder, and prints what they found. */
export async function runEvaluations(files: readonly string[], options: EvalCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  hookModules();
  if (options.json === true) consoleToStderr();
  const found = options.last === undefined ? await findEvalFiles(files, process.cwd()) : [];
  const baseline = options.baseline === undefined ? [] : await readReports(options.baseline);
  // Before anything runs: when all is done, it would be too late to say that the file cannot be written.
  if (options.junit !== undefined) await makeFolderOf(options.junit);
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
