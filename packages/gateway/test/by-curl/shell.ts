import { type ChildProcess, spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** Long, because the machine may be busy with other tests. */
const PATIENCE_MS = 30_000;

/** A terminal: commands run one after the other in one bash, which keeps its variables and functions. */
export class Shell implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #printed = '';
  #heard: PromiseWithResolvers<void> = Promise.withResolvers();
  #isOpen = true;
  #failure: string | undefined;
  #count = 0;

  constructor(folder: string) {
    const PATH = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
    // A separate process group, so that the processes that it started end with it, also a command that would run for ever.
    this.#child = spawn('bash', ['-s'], {
      cwd: folder,
      env: { PATH },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    for (const output of [this.#child.stdout, this.#child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    // If the shell has ended, waiting commands reject.
    this.#child.stdin?.on('error', () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#child.once('close', () => {
      this.#isOpen = false;
      this.#fail('ended');
      resolve();
    });
    this.#closed = promise;
  }

  /** The output of the commands, once they have ended. */
  async run(commands: string): Promise<string> {
    const mark = `--- done ${++this.#count} ---`;
    const from = this.#printed.length;
    this.#child.stdin?.write(`${commands}\nprintf '\\n%s\\n' '${mark}'\n`);
    const printed = await this.#waitFor(from, (text) => text.includes(mark));
    return printed.slice(0, printed.indexOf(mark)).trim();
  }

  /** For commands that print for ever: their output, once `until` accepts it. */
  async follow(commands: string, until: (printed: string) => boolean): Promise<string> {
    const from = this.#printed.length;
    this.#child.stdin?.write(`${commands}\n`);
    return await this.#waitFor(from, until);
  }

  async #waitFor(from: number, isEnough: (printed: string) => boolean): Promise<string> {
    const limit = setTimeout(() => this.#fail('went on for too long'), PATIENCE_MS);
    try {
      while (!isEnough(this.#printed.slice(from))) {
        if (this.#failure !== undefined)
          throw new Error(`The shell ${this.#failure} after printing this:\n${this.#printed.slice(from)}`);
        await this.#heard.promise;
        this.#heard = Promise.withResolvers();
      }
      return this.#printed.slice(from);
    } finally {
      clearTimeout(limit);
    }
  }

  #fail(how: string): void {
    this.#failure = how;
    this.#heard.resolve();
  }

  #hear(text: string): void {
    this.#printed += text;
    this.#heard.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOpen && this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    await this.#closed;
  }
}
