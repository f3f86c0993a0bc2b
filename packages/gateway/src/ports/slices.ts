import { setImmediate } from 'node:timers/promises';

/** How long a slice may take: short enough that nothing else in the process notices. */
const SLICE_MS = 10;

/** Cuts long work into slices, so that the rest of the process has its turn in between. */
export class Slices {
  #since = performance.now();

  /** Call it between any two parts of the work. Lets others have a turn if this slice has taken long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await setImmediate();
    this.#since = performance.now();
  }
}
