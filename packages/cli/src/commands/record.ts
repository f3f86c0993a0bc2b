import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import type { recordModel } from '@lastcall/core/testing';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { consoleToStderr } from '../console-to-stderr.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { hookModules } from '../module-hooks.ts';
import { runTask, type TaskEnd } from '../run-task.ts';
import { exitCodeOf } from '../stop-in-words.ts';
import { createOutput } from '../terminal/output.ts';
import { toTask } from './task-argument.ts';

interface RecordOptions {
  readonly out: string;
  readonly json?: boolean;
}

export function addRecord(program: Command): void {
  program
    .command('record')
    .argument('<agent>', 'the name of an agent of the configuration')
    .argument('<task>', 'what it should do, in words', toTask)
    .description('Give an agent a task, and write what its model replied to a cassette, for tests.')
    .option('--out <file>', 'where to write it', 'cassette.json')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', HELP)
    .action(record);
}

async function record(agent: string, message: string, { out, json }: RecordOptions): Promise<void> {
  loadEnv(process.cwd());
  hookModules();
  consoleToStderr();
  const files = new CassetteNames(resolve(out));
  const home = await mkdtemp(join(tmpdir(), 'lastcall-record-'));
  try {
    const end = await runOnce({ agent, message, home, files });
    if (files.used.length === 0)
      throw new CommandFailed('The agent did not ask a model, so there is nothing to play back.');
    createOutput({ json }).result({ ...end.answer, cassettes: files.used }, end.response);
    process.stderr.write(`Recorded: ${files.used.join(', ')}\n`);
    process.exitCode = exitCodeOf(end.stop);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

interface Recorded {
  readonly agent: string;
  readonly message: string;
  readonly home: string;
  readonly files: CassetteNames;
}

/** In a separate gateway, with an empty store. */
async function runOnce({ agent, message, home, files }: Recorded): Promise<TaskEnd> {
  const [{ createCheckedGateway, loadConfig, secretValues }, { recordModel }] = await Promise.all([
    import('@lastcall/gateway/internal'),
    import('@lastcall/core/testing'),
  ]);
  const { file, config } = await loadConfig(process.cwd());
  if (file === undefined)
    throw new CommandFailed('There is no lastcall.config.ts in this folder.', { exitCode: EXIT.usage });
  const key = `record-${crypto.randomUUID()}`;
  const embedded = { DATABASE_URL: undefined, DATABASE_DIRECT_URL: undefined, LASTCALL_HOME: home };
  const own = { ...embedded, LASTCALL_SECRET_KEY: key, PORT: '0', HOST: '127.0.0.1' };
  const env = { ...process.env, ...own, LASTCALL_LOG_LEVEL: 'silent' };
  const secrets = secretValues(process.env, { secretKey: key, secrets: config.secrets }).map(String);
  const { databaseUrl: _d, databaseDirectUrl: _u, home: _h, secretKey: _s, port: _p, host: _o, ...rest } = config;
  const gateway = createCheckedGateway({ ...rest, home, secretKey: key, port: 0 } as typeof config, {
    env,
    tapModel: (model) => onFirstUse(model, () => recordModel(model, files.next(), { secrets })),
  });
  await gateway.start();
  try {
    const api = new Api({ url: gateway.url, env });
    const signal = AbortSignal.timeout(LONGEST_MS);
    return await runTask(api, { agent, message, until: [], signal, onEvent: () => {} });
  } finally {
    await gateway.stop();
  }
}

type Model = ReturnType<typeof recordModel>;

/** A gateway opens all models of its configuration. Only those that are asked have a cassette. */
function onFirstUse({ provider, modelId, supportedUrls }: Model, open: () => Model): Model {
  let opened: Model | undefined;
  const model = (): Model => {
    opened ??= open();
    return opened;
  };
  return {
    ...{ specificationVersion: 'v4', provider, modelId, supportedUrls },
    doGenerate: (request) => model().doGenerate(request),
    doStream: (request) => model().doStream(request),
  };
}

const LONGEST_MS = 600_000;

/** Each model that is asked has its own cassette: the first has the name that was given. */
class CassetteNames {
  readonly #path: string;
  readonly used: string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  next(): string {
    const extension = extname(this.#path);
    const base = this.#path.slice(0, this.#path.length - extension.length);
    const name = this.used.length === 0 ? this.#path : `${base}-${this.used.length + 1}${extension}`;
    this.used.push(name);
    return name;
  }
}

const HELP = `
The agent runs in a separate gateway, with an empty store. Its tools run for real.
A test plays the file back: replayModel('cassette.json') of @lastcall/core/testing.`;
