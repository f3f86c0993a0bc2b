import {
  createSession,
  type Entry,
  type JournalRecord,
  replay,
  Session,
  type SessionJson,
  Transcript,
} from '@lastcall/core';
import { StoredMachineError } from '../errors.ts';
import { ROOT, type Tree } from './tree.ts';
import { viewSlice, withoutView } from './view.ts';

/** The conversation with the user, which all non-workers share: the current primary continues it. */
export const MAIN: string = ROOT;

// Each run follows the records of the runs before. With more, their result is kept instead, which takes about as long as following them.
const MOST_RECORDS = 64;

// Core's slice that every session has.
const ALWAYS = 'lastcall.succeeded';

/** What core's `createSession` takes. */
export type SessionOptions = NonNullable<Parameters<typeof createSession>[0]>;

export interface ThreadOptions {
  readonly id: string;
  readonly transcript?: Transcript;
  readonly sessionJson?: SessionJson | undefined;
  /** What changed since, as a journal has it. A slice that the options do not name is then kept as it was stored. */
  readonly records?: readonly JournalRecord[] | undefined;
  readonly sessionOptions: () => SessionOptions;
  /** How many entries the transcript had before the run. Default: none. */
  readonly length?: number;
  /** True if the thread may be continued again after the run, so that the run works on a fork of the transcript. */
  readonly isKept?: boolean;
}

/** What the records of a run have of a conversation. */
export interface Written {
  readonly entries: readonly Entry[];
  /** What its session follows. */
  readonly records: readonly JournalRecord[];
}

/** A conversation and the session of its calls: one for the primary, one for each worker. */
export class Thread {
  readonly id: string;
  /** How many of its entries are in the machine's log. */
  logged = 0;
  /**
   * True if it was stored in the middle of a step: its turn continues, and a turn that had ended is still to be
   * concluded.
   */
  inFlight = false;
  /** The start of its turn, if the journal does not have it yet: the first entry of the turn says that it begins one. */
  beginning: Entry | undefined;
  /** The end of its turn, if the journal does not have it yet: it is written with the end of the step, in one entry. */
  ending: Entry | undefined;
  /** The provider whose model was last asked. */
  provider: string | undefined;
  /** Asked when the session is made. */
  sessionOptions: () => SessionOptions;
  readonly #options: ThreadOptions;
  /** The conversation as it was before the run, if it may be continued again. The run works on a fork of it. */
  readonly #kept: Transcript | undefined;
  #transcript: Transcript | undefined;
  /** The records that the session has not followed yet. */
  #records: readonly JournalRecord[] | undefined;
  #session: Session | undefined;

  constructor(options: ThreadOptions) {
    this.id = options.id;
    this.#options = options;
    this.sessionOptions = options.sessionOptions;
    this.#kept = options.isKept === true ? options.transcript : undefined;
    if (this.#kept === undefined) this.#transcript = options.transcript ?? new Transcript();
    this.#records = options.records;
  }

  get transcript(): Transcript {
    if (this.#transcript === undefined) {
      const kept = this.#kept ?? new Transcript();
      // Computed here, so that forks need not: an instance mostly asks models of the same provider.
      if (this.provider !== undefined) kept.shownTo(this.provider);
      this.#transcript = kept.fork();
    }
    return this.#transcript;
  }

  /**
   * The thread for the next run, after a run of which the records have these entries. Undefined if the thread in memory has other ones.
   */
  continued({ entries, records }: Written): Thread | undefined {
    const { id, sessionJson, records: before, isKept } = this.#options;
    // Made in the run itself, or restored: its entries are those before the run and those of the run.
    const kept = this.#kept ?? new Transcript(this.transcript.entries.slice(0, this.#options.length ?? 0));
    if (this.#transcript !== undefined && this.#transcript.entries.length !== kept.entries.length + entries.length)
      return undefined;
    if (this.#transcript === undefined && entries.length > 0) return undefined;
    const isUntouched = isKept === true && this.#session === undefined && entries.length === 0;
    if (isUntouched) return this;
    kept.push(...entries);
    const all = [...(before ?? []), ...records];
    const folded = all.length > MOST_RECORDS ? this.#folded(all) : undefined;
    const thread = new Thread({
      id,
      transcript: kept,
      isKept: true,
      sessionJson: folded ?? sessionJson,
      sessionOptions: this.sessionOptions,
      records: folded === undefined ? all : [],
    });
    thread.logged = this.logged;
    thread.provider = this.provider;
    return thread;
  }

  /** Created when first used: most threads of a large tree only wait. */
  get session(): Session {
    if (this.#session === undefined) {
      const session = this.#restored(this.#records);
      session.register(viewSlice);
      this.#session = session;
      this.#records = undefined;
    }
    return this.#session;
  }

  /** The journal refused a write: the start or the end of the turn that was to be part of it never happened. */
  dropUnwritten(): void {
    const count = [this.beginning, this.ending].filter((entry) => entry !== undefined).length;
    if (count === 0) return;
    this.beginning = undefined;
    this.ending = undefined;
    this.#transcript = new Transcript(this.transcript.entries.slice(0, -count));
  }

  /** Makes the session that is about to be used. Throws if it cannot be read. */
  openSession(): void {
    this.#session ??= this.session;
  }

  /** Closes the resources that its calls opened. */
  async dispose(): Promise<void> {
    await this.#session?.dispose();
  }

  /** The session after these records, as it is stored. Undefined if it cannot be read: then its next user is told why. */
  #folded(records: readonly JournalRecord[]): SessionJson | undefined {
    try {
      return toStored(this.#restored(records).toJSON());
    } catch {
      return undefined;
    }
  }

  /** What the records hold is checked only here: most threads are never used again. */
  #replay(session: Session, records: readonly JournalRecord[]): void {
    try {
      replay(session, records);
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      throw new StoredMachineError(`threads.${this.#options.id}.records`, `could not be read: ${problem}`, { cause });
    }
  }

  #restored(records: readonly JournalRecord[] | undefined): Session {
    const { sessionJson } = this.#options;
    const options = this.sessionOptions();
    if (records === undefined)
      return sessionJson === undefined ? createSession(options) : Session.fromJSON(sessionJson, options);
    const session =
      sessionJson === undefined
        ? createSession(options)
        : Session.fromJSON(sessionJson, { ...options, unknownSlices: 'keep' });
    this.#replay(session, records);
    return session;
  }

  /**
   * The session without the machine's view, which comes from the tree. If unknown slices are refused, it throws if the
   * session could not be read back, because of a slice that the options do not name.
   */
  storedSession(unknownSlices: 'refuse' | 'keep'): SessionJson | undefined {
    const isUnused = this.#session === undefined && (this.#records ?? []).length === 0;
    const json = isUnused ? this.#options.sessionJson : toStored(this.session.toJSON());
    if (unknownSlices === 'keep') return json;
    if (json !== undefined && Object.keys(json.slices ?? {}).some((name) => name !== ALWAYS))
      Session.fromJSON(json, this.sessionOptions());
    return json;
  }

  /** Whether a turn has begun and not ended; asking the model again continues it. */
  get isMidTurn(): boolean {
    return this.#sinceTurn() !== undefined;
  }

  /** Whether calls may be unsettled: no message may be added in between. */
  get isMidBatch(): boolean {
    return this.#sinceTurn()?.some(({ kind }) => kind === 'reply') ?? false;
  }

  /** Whether the thread is empty, so that a model could not continue from it. */
  get isEmpty(): boolean {
    return !this.transcript.entries.some(({ kind }) => kind === 'message' || kind === 'reply');
  }

  /**
   * The entries of the current turn. A turn that was suspended, has its answers and was asked since counts as current.
   */
  #sinceTurn(): readonly Entry[] | undefined {
    const { entries } = this.transcript;
    const at = entries.findLastIndex(({ kind }) => kind === 'turn' || kind === 'stop');
    const since = entries.slice(at + 1);
    const goesOn = entries[at]?.kind === 'turn' || since.some(({ kind }) => kind === 'reply');
    return at !== -1 && goesOn ? since : undefined;
  }
}

function toStored({ version, slices }: SessionJson): SessionJson {
  return { version, slices: withoutView(slices) };
}

/** The instance that acts on a thread: the worker it belongs to, or the instance that talks with the user. */
export function ownerOf({ id }: Thread, { speaker }: Tree): string {
  return id === MAIN ? speaker : id;
}
