import { AsyncLocalStorage } from 'node:async_hooks';
import { Agenda } from './agenda.ts';

/** One simulated process. Everything that it starts belongs to it: its timers stop when it dies, and wait while it is frozen. */
export interface SimProcess {
  readonly name: string;
  isDead: boolean;
  /** None of its timers fires before this time. */
  frozenUntil: number;
  /** How far its own clock is ahead of the database's. */
  skewMs: number;
}

export function createProcess(name: string): SimProcess {
  return { name, isDead: false, frozenUntil: 0, skewMs: 0 };
}

const current = new AsyncLocalStorage<SimProcess>();

/** The process whose code runs now. Undefined for code of the simulation itself. */
export function currentProcess(): SimProcess | undefined {
  return current.getStore();
}

/** Runs code as a part of the process. */
export function inProcess<T>(process: SimProcess | undefined, work: () => T): T {
  return process === undefined ? current.exit(work) : current.run(process, work);
}

interface Due {
  readonly process: SimProcess | undefined;
  readonly work: () => void;
  isCancelled: boolean;
}

/** Where every world begins: 2026-01-05T08:00:00Z. */
export const START = Date.UTC(2026, 0, 5, 8);

const realImmediate = setImmediate;

/**
 * The clock of a world. Time stands still while code runs and jumps to the next timer when nothing is left to do, so a minute
 * takes as long as the code that runs in it. Timers of the same moment fire in the order in which they were set.
 */
export class VirtualTime {
  now: number = START;
  #agenda = new Agenda<Due>();
  /** Timers that have fired. */
  steps = 0;

  /** The time that the running process reads from its clock. */
  get shown(): number {
    return this.now + (currentProcess()?.skewMs ?? 0);
  }

  /** Runs the function later, in the calling process. */
  after(ms: number, work: () => void): () => void {
    return this.afterIn(currentProcess(), ms, work);
  }

  /** Runs the function later, in this process. Undefined: outside of all processes, so nothing stops it. */
  afterIn(process: SimProcess | undefined, ms: number, work: () => void): () => void {
    const due: Due = { process, work, isCancelled: false };
    this.#agenda.add(this.now + Math.max(0, Number.isFinite(ms) ? ms : 0), due);
    return () => {
      due.isCancelled = true;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Runs the world until `isOver`, or until nothing is left that could happen. */
  async runUntil(isOver: () => boolean): Promise<void> {
    await settled();
    while (!isOver()) {
      const next = this.#agenda.take();
      if (next === undefined) return;
      const { at, item } = next;
      const { process, work } = item;
      if (item.isCancelled || process?.isDead === true) continue;
      if (process !== undefined && process.frozenUntil > at) {
        this.#agenda.putBack({ ...next, at: process.frozenUntil });
        continue;
      }
      this.now = Math.max(this.now, at);
      this.steps++;
      inProcess(process, work);
      await settled();
    }
  }
}

/** Resolves when all promises that can go on without a timer have done so. Nothing in a world waits for real I/O. */
function settled(): Promise<void> {
  return new Promise((resolve) => void realImmediate(resolve));
}
