import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EvalOptions, type EvalReport, hostEvaluations, namedCases, runCases } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { KeptResults } from './kept-results.ts';
import { ProgressBar } from './progress-bar.ts';
import { agentRunner, type Draft } from './run-agent.ts';
import { ReportSender } from './send-report.ts';
import { storedCases } from './stored-cases.ts';

export interface RunnerOptions {
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly draft: Draft;
  /** Set if results are sent to the gateway: the name of the version. Undefined: the default name. */
  readonly send: { readonly label: string | undefined } | undefined;
  readonly parallel: number | undefined;
  readonly repeat: number | undefined;
  readonly isFresh: boolean;
  /** The folder in which reports are kept. */
  readonly out: string;
}

/** Runs the evaluations of the files that it loads. */
export class Runner {
  readonly reports: EvalReport[] = [];
  /** The number of runs that are kept of an evaluation that has not ended. */
  done = 0;
  readonly #options: RunnerOptions;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  async load(file: string): Promise<void> {
    const started: Promise<EvalReport>[] = [];
    let count = 0;
    const host = {
      run: (options: EvalOptions): Promise<EvalReport> => {
        const name = options.name ?? basename(file).replace(/\.eval\.\w+$/, '') + (count++ === 0 ? '' : ` ${count}`);
        const running = this.run(options, name);
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

  async run(given: EvalOptions, name: string): Promise<EvalReport> {
    const { api, draft, signal, parallel, isFresh, out } = this.#options;
    const { repeat = given.repeat } = this.#options;
    const cases = await namedCases({
      cases: typeof given.cases === 'string' ? await storedCases(api, given.cases) : given.cases,
    });
    const options = { ...given, name, cases, ...(repeat === undefined ? {} : { repeat }) };
    const sender = await this.#openSender(options);
    const kept = new KeptResults(resolve(out), name);
    const agent = typeof options.agent === 'string' ? options.agent : '';
    const before = await kept.begin({ cases, scores: Object.keys(options.scores), agent, draft }, { isFresh });
    if (before.length > 0)
      process.stderr.write(
        `${name}: continues with ${before.length} runs that were done before. Use --fresh to start again.\n`,
      );
    const bar = new ProgressBar(name);
    try {
      const report = await runCases(options, {
        ...{ parallel, signal, done: before, runAgent: agentRunner(api, draft) },
        onSample: async (sample, progress) => {
          await kept.add(sample);
          this.done = progress.done;
          bar.show(progress);
        },
      });
      await kept.end(report);
      await sender?.send(report);
      this.reports.push(report);
      return report;
    } catch (error) {
      bar.leave();
      throw error;
    }
  }

  /** Before anything runs: a gateway that does not take the results should say so first. */
  async #openSender({ name = '', agent }: EvalOptions): Promise<ReportSender | undefined> {
    const { api, send, draft } = this.#options;
    if (send === undefined) return undefined;
    return await ReportSender.open(api, { name, agent, draft, label: send.label });
  }
}
