import type { ChatEvent } from '@lastcall/client';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { runTask, type TaskEnd } from '../run-task.ts';
import { statusInWords } from '../status-in-words.ts';
import { exitCodeOf, stopInWords } from '../stop-in-words.ts';
import { duration } from '../terminal/duration.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';
import { toTask } from './task-argument.ts';

export function addRun(program: Command): void {
  apiOptions(
    program
      .command('run')
      .argument('<agent>', 'its name or id')
      .argument('<task>', 'what it should do, in words', toTask),
  )
    .description('Give an agent a task, and print its response. What it does meanwhile is printed on standard error.')
    .option('--until <tool...>', 'go on until this tool succeeds; its output is the response')
    .addHelpText('after', HELP)
    .action(run);
}

interface RunOptions extends ApiCommandOptions {
  readonly until?: readonly string[];
}

async function run(agent: string, message: string, { url, json, until = [] }: RunOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  const progress = new Progress();
  const interruption = new Interruption(api, progress);
  try {
    const { signal } = interruption;
    const end = await runTask(api, { agent, message, until, signal, onEvent: (event) => progress.show(event) });
    createOutput({ json }).result(end.answer, end.response);
    sayWhy(end, progress.steps);
    process.exitCode = interruption.hasCome ? EXIT.interrupted : exitCodeOf(end.stop);
  } catch (error) {
    if (!interruption.hasCome) throw error;
    process.exitCode = EXIT.interrupted;
  }
}

/** How long the request to cancel may take after the second Ctrl+C. */
const CANCEL_MS = 1_000;

/** The first Ctrl+C cancels the run. The second one exits without waiting for the run to end. */
class Interruption {
  hasCome = false;
  readonly #aborting = new AbortController();

  constructor(api: Api, progress: Progress) {
    const leaving = new AbortController();
    process.on('SIGINT', () => {
      if (this.hasCome) {
        this.#aborting.abort();
        // A gateway that does not answer must not keep the process alive, and a quick second Ctrl+C must not lose the request to cancel.
        setTimeout(() => leaving.abort(), CANCEL_MS).unref();
        return;
      }
      this.hasCome = true;
      // If the run's id is not known yet, the run is cancelled as soon as it is.
      const { signal } = leaving;
      void progress.begun.then((runId) => api.ask((client) => client.runs.cancel(runId, { signal })).catch(() => {}));
    });
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }
}

/** Says why the run stopped, unless it succeeded: then only the response is printed. */
function sayWhy({ stop, error, runId }: TaskEnd, steps: number): void {
  if (exitCodeOf(stop) === EXIT.done) return;
  const words = stopInWords(stop, { asked: steps });
  // The gateway says of a cancelled run only that it was cancelled.
  const isSaid = error === undefined || stop.reason === 'aborted';
  const why = plainLine(isSaid ? words : `${error} (${words})`, 500);
  const more = runId === undefined ? '' : ` See: lastcall replay ${runId}`;
  process.stderr.write(`Stopped: ${why}.${more}\n`);
}

type CallEnd = Extract<ChatEvent, { outcome: unknown }>;

/** Prints one line per call to standard error. */
class Progress {
  /** Resolves with the id of the run, once it has begun. */
  readonly begun: Promise<string>;
  readonly #begin: (runId: string) => void;
  #step = 0;
  /** Times are the gateway's, not this machine's. */
  readonly #startedAt = new Map<string, number>();

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.begun = promise;
    this.#begin = resolve;
  }

  /** How many steps have begun. The model is called once for each. */
  get steps(): number {
    return this.#step;
  }

  show(event: ChatEvent): void {
    if (event.type === 'run.start') this.#begin(event.runId);
    if (event.type === 'step.start') this.#step = event.step;
    if (event.type === 'tool-call.start') this.#startedAt.set(event.callId, event.at);
    if (event.type === 'nudge') process.stderr.write(`step ${this.#step}  reminded to end with the required tool\n`);
    if ('outcome' in event) this.#showEnd(event);
  }

  #showEnd({ toolName, outcome, callId, at }: CallEnd): void {
    const startedAt = this.#startedAt.get(callId);
    const took = startedAt === undefined ? '' : `  ${duration(at - startedAt)}`;
    const why = outcome.status === 'error' ? `: ${plainLine(outcome.message, 200)}` : '';
    process.stderr.write(`step ${this.#step}  ${plainLine(toolName)} ${statusInWords(outcome)}${why}${took}\n`);
  }
}

const HELP = `
Example: lastcall run Analyst "Report on Tokyo" --until file_report > report.md

Standard output has the response alone. The exit code says why the run stopped: 0 done, 1 failed, 10 a limit was
reached, 11 it waits for an answer, 12 cancelled, 13 the model's reply was cut off or filtered, 130 Ctrl+C.`;
