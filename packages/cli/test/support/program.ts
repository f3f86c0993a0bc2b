import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program as it is published: the global setup bundles it from the current sources. */
export const BIN: string = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
/** Long, because the machine may be busy with other tests. */
const PATIENCE_MS = 90_000;

export interface ProgramOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: this process's Node. Its folder comes first in the PATH. */
  readonly node?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of `lastcall` to its end. */
export async function lastcall(args: readonly string[], options: ProgramOptions): Promise<Ended> {
  return await Program.lastcall(args, options).ended;
}

/** A process of a test, and what it prints. */
export class Program implements AsyncDisposable {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #out = '';
  #err = '';
  #isEnded = false;
  #heard: PromiseWithResolvers<void> = Promise.withResolvers();

  /** A command of `lastcall`. */
  static lastcall(args: readonly string[], options: ProgramOptions): Program {
    return new Program([process.execPath, BIN, ...args], options);
  }

  constructor([file = '', ...args]: readonly string[], { folder, env = {}, node = process.execPath }: ProgramOptions) {
    this.#child = spawn(file, args, {
      cwd: folder,
      env: { ...inherited(node), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that the processes that it started end with it.
      detached: true,
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(() => (this.#out += text)));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#hear(() => (this.#err += text)));
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    this.#child.once('error', reject);
    this.#child.once('close', (code, signal) => {
      this.#hear(() => (this.#isEnded = true));
      resolve({ code, signal, out: this.#out, err: this.#err });
    });
    this.ended = promise;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Everything so far. */
  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves once its output, on stdout or stderr, matches. Rejects if it ends before. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    const late = setTimeout(() => this.#hear(() => (this.#isEnded = true)), PATIENCE_MS);
    try {
      for (;;) {
        const found = pattern.exec(this.#out) ?? pattern.exec(this.#err);
        if (found !== null) return found;
        if (this.#isEnded) throw new Error(`It never printed ${pattern}:\n${this.#out}\n${this.#err}`);
        await this.#heard.promise;
      }
    } finally {
      clearTimeout(late);
    }
  }

  /** The address that `lastcall start` prints. */
  async listens(): Promise<string> {
    return (await this.prints(/^Lastcall listens on (\S+)$/m))[1] ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // The process has ended already.
    }
    await this.ended;
  }

  #hear(change: () => void): void {
    change();
    const heard = this.#heard;
    this.#heard = Promise.withResolvers();
    heard.resolve();
  }
}

/** No variable of the machine that runs the tests configures a gateway. */
function inherited(node: string): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = tmpdir(), NODE_COMPILE_CACHE = '' } = process.env;
  const path = [dirname(node), PATH].join(':');
  return { PATH: path, HOME, TMPDIR, NODE_COMPILE_CACHE, NO_COLOR: '1' };
}
