import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';

/** A gateway of the demo, in a process that can be killed. */
export class DemoGateway implements AsyncDisposable {
  readonly api: Api;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, api: Api) {
    this.#child = child;
    this.api = api;
  }

  static async start({ home, bankUrl }: { home: string; bankUrl: string }): Promise<DemoGateway> {
    const LASTCALL_SECRET_KEY = randomBytes(24).toString('hex');
    const { PATH = '', HOME = '' } = process.env;
    // The rest of the environment is left out: the demo must not reach a real database or a real model.
    const env = { PATH, HOME, PORT: '0', LASTCALL_HOME: home, LASTCALL_SECRET_KEY, LASTCALL_DEMO_BANK: bankUrl };
    const args = [...process.execArgv, process.argv[1] ?? '', 'demo', 'gateway'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await addressOf(child);
    return new DemoGateway(child, new Api({ url, env: { LASTCALL_SECRET_KEY } }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#child.once('exit', () => resolve());
    this.#child.kill('SIGKILL');
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    const [, url] = /^Lastcall listens on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new CommandFailed('The gateway of the demo did not start.');
}
