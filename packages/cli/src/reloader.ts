import { type ChildProcess, spawn } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CONFIG_FILES, hasConfigFile } from './config-files.ts';

/** Editors write a file in several steps, and may write several files at once. */
const QUIET_MS = 100;
/** After this time, a gateway that is still finishing its runs is killed. The next gateway continues them. */
const PATIENCE_MS = 2_000;

const ALWAYS_WATCHED = ['.env', ...CONFIG_FILES];

/** Runs a command of this program in a child process, and restarts it when a file that it has loaded changes. */
export class Reloader {
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly #files: Set<string>;
  readonly #watchers = new Map<string, FSWatcher>();
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hadConfig = false;
  #isRestarting = false;
  #isStopped = false;

  constructor({ folder, args }: { readonly folder: string; readonly args: readonly string[] }) {
    this.#folder = folder;
    this.#args = args;
    this.#files = new Set(ALWAYS_WATCHED.map((name) => join(folder, name)));
  }

  start(): void {
    this.#hadConfig = hasConfigFile(this.#folder);
    this.#watchFolder(this.#folder);
    this.#spawn();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#end();
  }

  #spawn(): void {
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...this.#args], {
      cwd: this.#folder,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, LASTCALL_DEV: '1' },
    });
    this.#child = child;
    child.on('message', ({ loaded }: { loaded?: string }) => loaded !== undefined && this.#watchFile(loaded));
    child.once('exit', (code) => {
      if (this.#child !== child || this.#isStopped) return;
      this.#child = undefined;
      if (code !== 0) say('It starts again when a file changes.');
    });
  }

  /**
   * Watches the folder, not the file: editors replace files, and a watcher of the old file would report nothing more.
   */
  #watchFile(file: string): void {
    this.#files.add(file);
    this.#watchFolder(dirname(file));
  }

  #watchFolder(folder: string): void {
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      if (name !== null && this.#files.has(join(folder, name))) this.#onChange(join(folder, name));
    });
    watcher.on('error', () => {});
    this.#watchers.set(folder, watcher);
  }

  #onChange(file: string): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#restart(file), QUIET_MS);
  }

  async #restart(file: string): Promise<void> {
    say(`${basename(file)} has changed: starting again.`);
    // The gateway that starts next has this change too. A second restart would start a second gateway.
    if (this.#isRestarting) return;
    this.#isRestarting = true;
    await this.#end();
    this.#isRestarting = false;
    if (this.#isStopped) return;
    this.#hadConfig ||= hasConfigFile(this.#folder);
    // Without a configuration, "lastcall start" would put the demo's agents and spaces into the store.
    if (this.#hadConfig && !hasConfigFile(this.#folder))
      say('There is no configuration now. It starts again when there is one.');
    else this.#spawn();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    await promise;
    clearTimeout(kill);
  }
}

/** Writes to standard error, so that standard output keeps one JSON object per line. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
