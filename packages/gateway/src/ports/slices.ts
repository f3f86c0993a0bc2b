import { setImmediate } from 'node:timers/promises';

/** How long a slice may take: short enough not to delay the rest of the process noticeably. */
const SLICE_MS = 10;

/** Cuts long work into slices, so that other work of the process can run in between. */
export class Slices {
  #since = performance.now();

  /** Call it between two parts of the work. Yields to other work if this slice has taken long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await setImmediate();
    this.#since = performance.now();
  }
}
