import type { Clock } from '../clock.ts';
import type { RewindOptions } from '../contract/turn-settings.ts';
import type { ActedCall } from '../dispatch/call-run.ts';
import { restoredInTime } from '../dispatch/restore-wait.ts';
import { RestoreFailed } from '../errors.ts';
import { errorText } from '../results/describe-error.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { Snapshot } from '../session/snapshots.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';

/** Checkpoints of turns that stopped and may be resumed, by session. Each is identified by the last call since. */
const kept = new WeakMap<SessionLayer, { readonly lastCall: string; readonly checkpoint: Checkpoint }>();

/** The turn that is rewound. */
interface Restoring {
  readonly options: { readonly rewind?: RewindOptions };
  readonly clock: Clock;
  readonly deadline: number | undefined;
}

/** A saved point of a turn: the session, its files and resources, and the host's own saved state. */
export class Checkpoint {
  /** True if it comes from a journal, which knows only the session. */
  readonly isReplayed: boolean;
  /** The tools that ran since, by call: a later step may not have them any more. */
  readonly ran: Map<string, ResolvedTool> = new Map();
  /** The calls of the turn since that may have acted outside. A resumed turn knows those of the turn before too. */
  readonly acted: Map<string, ActedCall> = new Map();
  readonly #session: SessionLayer;
  readonly #snapshot: Snapshot;
  readonly #saved: unknown;
  readonly #undo: ReturnType<SessionLayer['keepUndo']>;

  private constructor(
    session: SessionLayer,
    snapshot: Snapshot,
    how: { readonly saved?: unknown; readonly isReplayed: boolean },
  ) {
    Checkpoint.forget(session);
    this.#session = session;
    this.#snapshot = snapshot;
    this.#undo = session.keepUndo();
    this.#saved = how.saved;
    this.isReplayed = how.isReplayed;
  }

  /** `saved` is the host's own state. */
  static take(session: SessionLayer, saved: unknown): Checkpoint {
    return new Checkpoint(session, session.snapshot(), { saved, isReplayed: false });
  }

  /** The checkpoint of a turn that another process began, as far as a journal has it. */
  static replayed(session: SessionLayer, snapshot: Snapshot): Checkpoint {
    return new Checkpoint(session, snapshot, { isReplayed: true });
  }

  /** The checkpoint of a resumed turn, if it is still there and contains the host's own state. */
  static find(
    session: SessionLayer,
    lastCall: string | undefined,
    host: RewindOptions | undefined,
  ): Checkpoint | undefined {
    const found = kept.get(session);
    if (lastCall === undefined || found?.lastCall !== lastCall) return undefined;
    return found.checkpoint.isReplayed && host?.restore !== undefined ? undefined : found.checkpoint;
  }

  static forget(session: SessionLayer): void {
    kept.get(session)?.checkpoint.release();
  }

  /** Keeps the checkpoint in case its turn is resumed. */
  keep(lastCall: string): void {
    kept.set(this.#session, { lastCall, checkpoint: this });
  }

  /** Goes back to the identical point, as often as requested. */
  async restore({ options, clock, deadline }: Restoring): Promise<void> {
    try {
      this.#session.restore(this.#snapshot);
      await restoredInTime({ clock, deadline }, this.#undoAndRestore(options.rewind));
    } catch (cause) {
      const error = new RestoreFailed(`The turn could not go back to its checkpoint: ${errorText(cause)}`, { cause });
      this.#session.poison(error);
      throw error;
    }
  }

  async #undoAndRestore(host: RewindOptions | undefined): Promise<void> {
    await this.#undo.undoAll();
    // A copy, because a host may change what it gets, and must get the same state the next time.
    await host?.restore?.(copyOf(this.#saved) as never);
  }

  release(): void {
    kept.delete(this.#session);
    this.#undo.release();
  }
}

/** Copies plain data in depth. Other objects are not copied: only the host knows how. */
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
