import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The program from the current sources, with its dependencies in it: see `bundleProgram` in scripts/bundle.js. */
const PROGRAM = new URL('../../../../node_modules/.cache/program/dist/start.js', import.meta.url);
/** Nearly all allocations of a start survive. Copying them through a small young generation on several threads takes a tenth of the start and more. */
const FLAGS = ['--min-semi-space-size=64', '--single-threaded-gc'];
const START = [process.execPath, ...FLAGS, fileURLToPath(PROGRAM), 'start'];

export interface ProcessOptions {
  /** The name with which it identifies itself to the model server. */
  readonly name: string;
  /** Its working directory: where the configuration is. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program and its arguments. Default: `lastcall start`. */
  readonly command?: readonly string[];
  /** The umask in octal digits. Default: that of the tests. */
  readonly umask?: string | undefined;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A gateway in a separate process. */
export class GatewayProcess {
  readonly name: string;
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #listening = Promise.withResolvers<string>();
  #output = '';
  #url: string | undefined;

  /** Resolves once it listens; rejects with its output if it ends before. */
  static async start(options: ProcessOptions): Promise<GatewayProcess> {
    const started = new GatewayProcess(options);
    started.#url = await started.#listening.promise;
    return started;
  }

  /** A gateway that is expected to end by itself. */
  static async runToEnd(options: ProcessOptions): Promise<Exit & { output: string }> {
    const started = new GatewayProcess(options);
    started.#listening.promise.catch(() => {});
    return { ...(await started.exited), output: started.output };
  }

  private constructor({ name, folder, env, umask, command = START }: ProcessOptions) {
    this.name = name;
    // The shell is replaced by the gateway (exec), so signals reach it.
    const [file = '', ...args] =
      umask === undefined ? command : ['/bin/sh', '-c', `umask ${umask} && exec "$@"`, 'sh', ...command];
    this.#child = spawn(file, args, {
      cwd: folder,
      env: {
        ...inherited(),
        TEST_PARENT: String(process.pid),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear('out', text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#hear('err', text));
    const { promise, resolve } = Promise.withResolvers<Exit>();
    // `close` comes after `exit`, when all output was read.
    this.#child.once('close', (code, signal) => {
      this.#listening.reject(new Error(`The gateway ${name} ended (${code ?? signal}):\n${this.#output}`));
      resolve({ code, signal });
    });
    this.exited = promise;
  }

  get url(): string {
    if (this.#url === undefined) throw new Error('It does not listen yet.');
    return this.#url;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isKilled(): boolean {
    return this.#child.signalCode === 'SIGKILL';
  }

  /** All that it printed on standard output and standard error. */
  readonly printed: { out: string; err: string } = { out: '', err: '' };

  /** The end of its output. */
  get output(): string {
    return this.#output;
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends SIGKILL and waits for the end. A frozen process is killed too. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #hear(where: 'out' | 'err', text: string): void {
    this.printed[where] += text;
    this.#output = `${this.#output}${text}`.slice(-20_000);
    const url = /Lastcall listens on (\S+)/.exec(this.#output)?.[1];
    if (url !== undefined) this.#listening.resolve(url);
  }
}

/** No variable of the machine that runs the tests configures a gateway. */
function inherited(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = tmpdir(), NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
}
