import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, GatewayProcess } from '../processes/gateway-process.ts';
import type { Site } from '../processes/site.ts';

const ENV = { TEST_GRACE_MS: '300', TEST_SWEEP_MS: '250', LASTCALL_LOG_LEVEL: 'error' };

/** Gateways that are restarted whenever they end, as by a supervisor. */
export class Fleet {
  readonly problems: string[] = [];
  readonly #site: Site;
  readonly #running = new Map<string, GatewayProcess>();
  readonly #stopped = new Set<string>();
  readonly #starting = new Map<string, Promise<void>>();
  #isClosing = false;

  constructor(site: Site) {
    this.#site = site;
  }

  async open(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.#start(name)));
  }

  /** The URLs of gateways that can be reached. */
  get urls(): string[] {
    return [...this.#running.values()].filter(({ name }) => !this.#stopped.has(name)).map(({ url }) => url);
  }

  get names(): string[] {
    return [...this.#running.keys()].filter((name) => !this.#stopped.has(name));
  }

  pidOf(name: string): number | undefined {
    return this.#running.get(name)?.pid;
  }

  async kill(name: string): Promise<void> {
    await this.#end(name, 'SIGKILL');
  }

  async terminate(name: string): Promise<void> {
    const { code, signal } = (await this.#end(name, 'SIGTERM')) ?? {};
    if (code !== 0) this.problems.push(`SIGTERM ended ${name} with ${code ?? signal}.`);
  }

  async freeze(name: string, meanwhile: () => Promise<void>): Promise<void> {
    const process = this.#running.get(name);
    this.#stopped.add(name);
    process?.send('SIGSTOP');
    try {
      await meanwhile();
    } finally {
      process?.send('SIGCONT');
      this.#stopped.delete(name);
    }
  }

  /** Resolves once all gateways run again. */
  async whole(): Promise<void> {
    while (this.#starting.size > 0) await Promise.all(this.#starting.values());
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    await this.whole();
    this.#isClosing = true;
    await Promise.all(this.names.map((name) => this.terminate(name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<Exit | undefined> {
    const process = this.#running.get(name);
    this.#running.delete(name);
    process?.send(signal);
    const exit = await process?.exited;
    if (!this.#isClosing) void this.#start(name);
    return exit;
  }

  #start(name: string): Promise<void> {
    const starting = this.#tryToStart(name).finally(() => this.#starting.delete(name));
    this.#starting.set(name, starting);
    return starting;
  }

  /** Without its database a gateway cannot start, so the start is retried. */
  async #tryToStart(name: string): Promise<void> {
    for (let tries = 0; tries < 50; tries++) {
      try {
        const started = await this.#site.start(name, ENV);
        this.#running.set(name, started);
        void this.#watch(name, started);
        return;
      } catch (error) {
        if (!/does not answer|is a standby|ECONN|starting up|shutting down|terminat/i.test(String(error)))
          this.problems.push(`${name} did not start: ${error}`);
        await sleep(200);
      }
    }
    this.problems.push(`${name} could not be started.`);
  }

  /** Reports a gateway that ended without being stopped. */
  async #watch(name: string, process: GatewayProcess): Promise<void> {
    const { code, signal } = await process.exited;
    if (this.#running.get(name) !== process) return;
    this.problems.push(`${name} ended by itself (${code ?? signal}): ${process.output.slice(-3_000)}`);
    this.#running.delete(name);
    await this.#start(name);
  }
}
