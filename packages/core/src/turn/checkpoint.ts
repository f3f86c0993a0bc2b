import { RestoreFailed } from '../errors.ts';
import { errorText } from '../results/describe-error.ts';
import type { Snapshot } from '../session/session.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { RewindOptions } from './turn-options.ts';

/** A saved point of a turn: the session, its files and resources, and what the host saved of its own. */
export class Checkpoint {
  readonly #session: SessionLayer;
  readonly #snapshot: Snapshot;
  readonly #host: RewindOptions | undefined;
  readonly #saved: unknown;
  readonly #undo: ReturnType<SessionLayer['keepUndo']>;

  private constructor(session: SessionLayer, host: RewindOptions | undefined, saved: unknown) {
    this.#session = session;
    this.#snapshot = session.snapshot();
    this.#undo = session.keepUndo();
    this.#host = host;
    this.#saved = saved;
  }

  static async take(session: SessionLayer, host: RewindOptions | undefined): Promise<Checkpoint> {
    return new Checkpoint(session, host, await host?.checkpoint?.());
  }

  /** Goes back, as often as asked, to the identical point. */
  async restore(): Promise<void> {
    try {
      this.#session.restore(this.#snapshot);
      await this.#undo.undoAll();
      // A copy, because a host may go on working on what it gets, and has to get the same the next time.
      await this.#host?.restore?.(copyOf(this.#saved) as never);
    } catch (cause) {
      const error = new RestoreFailed(`The turn could not go back to its checkpoint: ${errorText(cause)}`, { cause });
      this.#session.poison(error);
      throw error;
    }
  }

  release(): void {
    this.#undo.release();
  }
}

/** Copies plain data in depth. Anything else stays the host's own object: only the host knows how to copy it. */
function copyOf(value: unknown, copies: Map<object, unknown> = new Map()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const copy: unknown[] | Record<string, unknown> | undefined = Array.isArray(value)
    ? []
    : Object.getPrototypeOf(value) === Object.prototype
      ? {}
      : undefined;
  if (copy === undefined) return value;
  copies.set(value, copy);
  for (const [key, field] of Object.entries(value)) (copy as Record<string, unknown>)[key] = copyOf(field, copies);
  return copy;
}
