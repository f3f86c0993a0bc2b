import { createHash } from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Random } from '../chaos/random.ts';
import { VirtualTime } from './virtual-time.ts';

/*
 * Gives this Node process virtual time and seeded random numbers. The gateway reads the clock, sets timers and draws ids as usual; here
 * these functions ask the world that runs now. Only a process that does nothing but simulate may import this file.
 */

const require = createRequire(import.meta.url);

let time = new VirtualTime();
let random = new Random(0);
/** How often random bytes were drawn. */
let draws = 0;

/** Starts over, with the clock and the random numbers of a new world. */
export function useWorld(world: VirtualTime, seed: number): void {
  time = world;
  random = new Random(seed);
}

export function drawsOfBytes(): number {
  return draws;
}

class Timer {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  close(): this {
    this.cancel();
    return this;
  }
}

type Work = (...given: unknown[]) => void;

function virtualTimeout(work: Work, ms = 1, ...given: unknown[]): Timer {
  return new Timer(time.after(Math.max(1, ms), () => work(...given)));
}

function virtualInterval(work: Work, ms = 1, ...given: unknown[]): Timer {
  let cancel = (): void => {};
  let isOver = false;
  const set = (): void => {
    cancel = time.after(Math.max(1, ms), () => {
      work(...given);
      if (!isOver) set();
    });
  };
  set();
  return new Timer(() => {
    isOver = true;
    cancel();
  });
}

function virtualImmediate(work: Work, ...given: unknown[]): Timer {
  return new Timer(time.after(0, () => work(...given)));
}

function clear(timer: unknown): void {
  if (timer instanceof Timer) timer.cancel();
}

function abortError(signal: AbortSignal): Error {
  return Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}

function promised(set: (resolve: () => void) => () => void, value: unknown, signal?: AbortSignal): Promise<unknown> {
  if (signal?.aborted === true) return Promise.reject(abortError(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(abortError(signal as AbortSignal));
    };
    const cancel = set(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function fill<T extends NodeJS.ArrayBufferView>(view: T): T {
  draws++;
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let at = 0; at < bytes.length; at += 4) {
    const drawn = random.between(0, 0xffff_ffff);
    for (let index = 0; index < 4 && at + index < bytes.length; index++) bytes[at + index] = drawn >>> (8 * index);
  }
  return view;
}

function uuid(): string {
  const bytes = fill(Buffer.alloc(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const RealDate = Date;

class VirtualDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(time.shown);
    else super(...(given as [number]));
  }

  static override now(): number {
    return time.shown;
  }
}

function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  time.after(ms, () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
  return controller.signal;
}

Object.assign(globalThis, {
  setTimeout: virtualTimeout,
  setInterval: virtualInterval,
  setImmediate: virtualImmediate,
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
  Date: VirtualDate,
});
Math.random = () => random.next();
performance.now = () => time.now;
AbortSignal.timeout = timeoutSignal;
Object.defineProperty(globalThis.crypto, 'randomUUID', { value: uuid });
Object.defineProperty(globalThis.crypto, 'getRandomValues', { value: fill });
Object.defineProperty(process, 'pid', { value: 1 });

Object.assign(require('node:timers/promises'), {
  setTimeout: (ms = 1, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    promised((resolve) => time.after(Math.max(1, ms), resolve), value, signal),
  setImmediate: (value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    promised((resolve) => time.after(0, resolve), value, signal),
});
Object.assign(require('node:crypto'), {
  randomUUID: uuid,
  randomFillSync: fill,
  randomBytes: (size: number) => fill(Buffer.alloc(size)),
});
Object.assign(require('node:os'), { hostname: () => 'sim' });
syncBuiltinESMExports();

/** A short fingerprint of a text. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
