import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type EvalCase,
  type EvalOptions,
  type EvalReport,
  hostEvaluations,
  namedCases,
  type RunOptions,
  runCases,
} from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { findAgent } from './find-agent.ts';
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
  /** The files of the evaluations that have begun. */
  readonly #taken = new Set<string>();

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
    const kept = this.#keep(resolve(out), name);
    const cases = await namedCases({
      cases: typeof given.cases === 'string' ? await storedCases(api, given.cases) : given.cases,
    });
    const options = { ...given, name, cases, ...(repeat === undefined ? {} : { repeat }) };
    assertTriesDraft(options, draft);
    const sender = await this.#openSender(options, cases.length * (repeat ?? 1));
    const agent = typeof options.agent === 'string' ? options.agent : '';
    const config = agent === '' ? undefined : await configVersion(api, agent, cases);
    const before = await kept.begin({ cases, scores: Object.keys(options.scores), agent, config, draft }, { isFresh });
    if (before.length > 0)
      process.stderr.write(
        `${name}: continues with ${before.length} runs that were done before. Use --fresh to start again.\n`,
      );
    const bar = new ProgressBar(name);
    const reach = new GatewayReach(agentRunner(api, draft));
    try {
      const report = await runCases(options, {
        ...{ parallel, done: before, runAgent: reach.run, signal: AbortSignal.any([signal, reach.signal]) },
        onSample: async (sample, progress) => {
          await kept.add(sample);
          this.done = progress.done;
          bar.show(progress);
        },
      });
      await kept.write(report);
      await sender?.send(report);
      // Until it is sent, the same command sends it again and runs nothing.
      await kept.forget();
      this.reports.push(report);
      return report;
    } catch (error) {
      bar.leave();
      if (error instanceof CommandFailed && error.exitCode === EXIT.notReached)
        process.stderr.write(`${name}: what was done is kept. The same command continues with the rest.\n`);
      throw error;
    }
  }

  /** The names of two evaluations may lead to the same file. Some systems do not tell capitals apart. */
  #keep(folder: string, name: string): KeptResults {
    const kept = new KeptResults(folder, name);
    const file = kept.path.toLowerCase();
    if (this.#taken.has(file))
      throw new CommandFailed(
        `Two evaluations would write ${kept.path}: give "${name}" another name, with evaluate({ name: … }).`,
        { exitCode: EXIT.usage },
      );
    this.#taken.add(file);
    return kept;
  }

  /** Before anything runs: a gateway that does not take the results should say so first. */
  async #openSender({ name = '', agent, scores }: EvalOptions, samples: number): Promise<ReportSender | undefined> {
    const { api, send, draft } = this.#options;
    if (send === undefined) return undefined;
    const size = { samples, scores: Object.keys(scores).length };
    return await ReportSender.open(api, { name, agent, draft, label: send.label, ...size });
  }
}

/** Otherwise the results of the saved configuration would be taken for those of the draft. */
function assertTriesDraft({ name, agent, cases }: EvalOptions & { cases: readonly EvalCase[] }, draft: Draft): void {
  const { model, instructions } = draft;
  if (model === undefined && instructions === undefined) return;
  if (typeof agent === 'string' && cases.some(({ run }) => run !== undefined)) return;
  throw new CommandFailed(
    `--model and --instructions change only cases of recorded runs of an agent of the gateway, and "${name}" has none. Make a case of a run with "lastcall eval add", or name the files that have some.`,
    { exitCode: EXIT.usage },
  );
}

/** Results of another configuration are not continued. A case that is a conversation does not need the agent to be listed. */
async function configVersion(api: Api, agent: string, cases: readonly EvalCase[]): Promise<number | undefined> {
  const found = api.ask((client) => findAgent(client, agent));
  const isFork = cases.some(({ run }) => run !== undefined);
  return (await (isFork ? found : found.catch(() => undefined)))?.configVersion;
}

type RunAgent = NonNullable<RunOptions['runAgent']>;

/** Ends the evaluation if the gateway goes away, or refuses the key: that tells nothing about the cases that are left. */
class GatewayReach {
  readonly #lost = new AbortController();
  readonly #run: RunAgent;

  constructor(run: RunAgent) {
    this.#run = run;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  readonly run: RunAgent = async (agent, context) => {
    try {
      return await this.#run(agent, context);
    } catch (error) {
      if (error instanceof CommandFailed && error.exitCode === EXIT.notReached) this.#lost.abort(error);
      throw error;
    }
  };
}
