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

  constructor(session: SessionLayer, host: RewindOptions | undefined) {
    this.#session = session;
    this.#snapshot = session.snapshot();
    this.#undo = session.keepUndo();
    this.#host = host;
    this.#saved = host?.checkpoint?.();
  }

  /** Goes back, as often as asked, to the identical point. */
  async restore(): Promise<void> {
    try {
      this.#session.restore(this.#snapshot);
      await this.#undo.undoAll();
      await this.#host?.restore?.(this.#saved as never);
    } catch (cause) {
      throw new RestoreFailed(`The turn could not go back to its checkpoint: ${errorText(cause)}`, { cause });
    }
  }

  release(): void {
    this.#undo.release();
  }
}
