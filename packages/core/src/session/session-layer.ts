import type { Clock } from '../clock.ts';
import { OptionsError, ReadOnlyError, RestoreFailed, SessionError, StaleCallError } from '../errors.ts';
import { type FileTransaction, openFileTransaction } from '../files/file-transaction.ts';
import type { Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import { CallLock } from './call-lock.ts';
import type { AnyResource, Resources } from './resource.ts';
import { ResourceScope } from './resource-scope.ts';
import { emptyRoot, type Root, readSlice, reduceRoot, rollBack, withSlice, withSlicesOf } from './root.ts';
import type { Session, Snapshot } from './session.ts';
import { rootToJson, type SessionJson } from './session-json.ts';
import type { AnySlice, SessionEvent, Slice } from './slice.ts';
import { Subscribers } from './subscribers.ts';
import { succeededTools } from './succeeded-tools.ts';
import type { ToolInvoked } from './tool-invoked.ts';
import { UndoLog } from './undo-log.ts';

/** What all layers of one session share. */
interface Ground {
  readonly subscribers: Subscribers;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly baseFilesystem: () => Filesystem;
  /** Set once something could not be put back: nobody knows what the state is any more. */
  poison: RestoreFailed | undefined;
}

const snapshots = new WeakMap<Snapshot, { root: Root; ground: Ground }>();

/**
 * A session, or the draft of a call upon it. The bottom layer is the session a host made. Each call with effects opens a
 * layer above: state, files and resources change there, and `commit` moves them down or `discard` leaves no trace. A call
 * that a call makes opens a layer above that one. After its end a layer refuses every write.
 */
export class SessionLayer implements Session {
  root: Root;
  /** What makes the call fail even where its tool caught the error: a reducer that threw, a write from a read-only tool. */
  breach: { readonly error: unknown } | undefined;
  readonly #ground: Ground;
  readonly #below: SessionLayer | undefined;
  readonly #readOnly: boolean;
  /** The root below when the layer was opened. */
  readonly #opened: Root;
  #open = true;
  #lock: CallLock | undefined;
  #turns: CallLock | undefined;
  #undoLog: UndoLog | undefined;
  #events: SessionEvent[] | undefined;
  #scope: ResourceScope | undefined;
  #files: FileTransaction | undefined;
  #guarded: Filesystem | undefined;
  #guard: ((filesystem: Filesystem, layer: SessionLayer) => Filesystem) | undefined;

  private constructor(ground: Ground, root: Root, above?: { below: SessionLayer; readOnly: boolean }) {
    this.#ground = ground;
    this.root = root;
    this.#opened = root;
    this.#below = above?.below;
    this.#readOnly = above?.readOnly ?? false;
  }

  static bottom(options: {
    logger: Logger;
    clock: Clock;
    filesystem: (resources: ResourceScope) => Filesystem;
  }): SessionLayer {
    const scope = new ResourceScope({ logger: options.logger, clock: options.clock });
    let base: Filesystem | undefined;
    const ground: Ground = {
      subscribers: new Subscribers(options.logger),
      logger: options.logger,
      clock: options.clock,
      baseFilesystem: () => (base ??= options.filesystem(scope)),
      poison: undefined,
    };
    const layer = new SessionLayer(ground, withSlice(emptyRoot, succeededTools));
    layer.#scope = scope;
    return layer;
  }

  static of(session: Session): SessionLayer {
    if (session instanceof SessionLayer) return session;
    throw new OptionsError('session', 'must come from createSession() or be the session of a tool context.');
  }

  /** Opens a layer for a call. `guard` wraps its file system. */
  open(options: {
    readOnly: boolean;
    guard?: ((filesystem: Filesystem, layer: SessionLayer) => Filesystem) | undefined;
  }): SessionLayer {
    // Nothing that a call without effects makes may write either.
    const readOnly = options.readOnly || this.#readOnly;
    const layer = new SessionLayer(this.#ground, this.root, { below: this, readOnly });
    layer.#guard = options.guard;
    return layer;
  }

  /** Throws where something could not be put back. */
  assertUnpoisoned(): void {
    const { poison } = this.#ground;
    if (poison === undefined) return;
    throw new RestoreFailed(`The session is poisoned and refuses further calls: ${poison.message}`, { cause: poison });
  }

  /** Something could not be put back: the session refuses further calls. */
  poison(error: RestoreFailed): void {
    this.#ground.poison ??= error;
  }

  /** Throws where the session may not be used: poisoned, disposed of, or the draft of a call that has ended. */
  assertUsable(): void {
    this.assertUnpoisoned();
    if (!this.isOpen) throw new StaleCallError('A session was used');
  }

  get isOpen(): boolean {
    return this.#open && (this.#below === undefined || this.#below.isOpen);
  }

  /** Keeps turns upon this layer apart. */
  get turns(): CallLock {
    this.#turns ??= new CallLock();
    return this.#turns;
  }

  /** Keeps calls upon this layer apart. Most layers never see one. */
  get lock(): CallLock {
    this.#lock ??= new CallLock();
    return this.#lock;
  }

  get isReadOnly(): boolean {
    return this.#readOnly;
  }

  get logger(): Logger {
    return this.#ground.logger;
  }

  read<S>(slice: Slice<S>): S {
    if (this.#canRegister && !this.root.has(slice.name)) this.root = withSlice(this.root, slice);
    return readSlice(this.root, slice);
  }

  register(...slices: readonly AnySlice[]): void {
    let root = this.root;
    for (const slice of slices) root = withSlice(root, slice);
    if (root === this.root) return;
    if (!this.isOpen) throw new StaleCallError('A slice was registered');
    // Allowed beside a running call: it adds a slice in its initial state, and the call's commit keeps it.
    this.root = root;
  }

  /** For the runtime, which holds the lock: makes slices known whoever may write now. */
  adopt(slices: readonly AnySlice[]): void {
    for (const slice of slices) this.root = withSlice(this.root, slice);
  }

  dispatch<E extends SessionEvent>(event: E): void {
    if (typeof event?.type !== 'string') throw new SessionError('An event is an object with a text "type".');
    if (event.type === 'ToolInvoked') throw new SessionError('"ToolInvoked" is told by the runtime alone.');
    this.#assertWritable(`Event "${event.type}" was dispatched`);
    try {
      this.root = reduceRoot(this.root, event);
    } catch (error) {
      this.#break(error);
      throw error;
    }
    this.#remember(event);
  }

  /** For policies: an event that counts if the call succeeds, also where the call itself may not write. */
  record(event: SessionEvent): void {
    if (!this.#readOnly) {
      this.dispatch(event);
      return;
    }
    if (!this.isOpen) throw new StaleCallError(`Event "${event.type}" was recorded`);
    this.#events ??= [];
    this.#events.push(event);
  }

  subscribe(type: string, listener: (event: never) => void): () => void {
    return this.#ground.subscribers.add(type, listener);
  }

  snapshot(): Snapshot {
    const snapshot: Snapshot = Object.freeze({ kind: 'session-snapshot' });
    snapshots.set(snapshot, { root: this.root, ground: this.#ground });
    return snapshot;
  }

  restore(snapshot: Snapshot): void {
    const saved = snapshots.get(snapshot);
    if (saved === undefined || saved.ground !== this.#ground) {
      throw new SessionError('restore() takes a snapshot that this very session made.');
    }
    this.#assertWritable('A snapshot was restored');
    this.root = rollBack(saved.root, this.root);
  }

  toJSON(): SessionJson {
    return rootToJson(this.root);
  }

  get scope(): ResourceScope {
    if (this.#scope === undefined && !this.isOpen) throw new StaleCallError('A resource was asked for');
    const { logger, clock } = this.#ground;
    // The bottom layer is made with its scope, so whoever comes here has one below.
    this.#scope ??= new ResourceScope({
      below: (this.#below as SessionLayer).scope,
      readOnly: this.#readOnly,
      logger,
      clock,
    });
    return this.#scope;
  }

  get resources(): Resources {
    return this.scope;
  }

  addResource(resource: AnyResource): void {
    this.scope.register(resource);
  }

  get filesystem(): Filesystem {
    if (this.#below === undefined) return this.#ground.baseFilesystem();
    this.#files ??= this.#openFiles(this.#below.filesystem);
    if (this.#guard === undefined) return this.#files.filesystem;
    this.#guarded ??= this.#guard(this.#files.filesystem, this);
    return this.#guarded;
  }

  async dispose(): Promise<void> {
    this.#open = false;
    await this.scope.close();
  }

  /** From here on keeps what would undo the files and resources of calls committed upon this layer. */
  keepUndo(): UndoLog {
    this.#undoLog = new UndoLog();
    return this.#undoLog;
  }

  keepUndone(undos: readonly (() => Promise<void>)[]): void {
    this.#undoLog?.add(undos);
  }

  /** Runs the end of a successful call through the reducers, so that it is part of what is committed. Throws as they do. */
  reduceEnd(event: ToolInvoked): void {
    this.root = reduceRoot(this.root, event);
  }

  /** Tells the `log` slices of a call that did not succeed. State slices never see it. */
  logEnd(event: ToolInvoked): void {
    try {
      this.root = reduceRoot(this.root, event, 'log');
    } catch (error) {
      this.#ground.logger.error(`A log slice could not record the end of "${event.toolName}".`, error);
    }
  }

  tell(event: ToolInvoked): void {
    this.#ground.subscribers.tell(event);
  }

  /** What the call told the session, to be kept with its end. */
  get events(): readonly SessionEvent[] {
    return this.#events ?? [];
  }

  /** From here on the layer refuses writes; what it did is still undecided. */
  close(): void {
    this.#open = false;
  }

  /** What the call did is done. Asynchronous only where files or resources were touched. */
  commit(): void | Promise<void> {
    this.#open = false;
    if (this.#files === undefined && this.#scope === undefined) return this.#commitState();
    return this.#commitAll();
  }

  /** What the call did is undone. Rejects with RestoreFailed, and poisons the session, where it cannot be. */
  discard(options: { hurry?: boolean } = {}): void | Promise<void> {
    this.#open = false;
    this.#discardState();
    if (this.#files === undefined && this.#scope === undefined) return;
    return this.#discardAll(options.hurry ?? false);
  }

  async #commitAll(): Promise<void> {
    await this.#files?.commit();
    this.#commitState();
    const undos = this.#scope?.undos();
    if (undos !== undefined) this.#below?.keepUndone(undos);
    await this.#scope?.commit();
  }

  #commitState(): void {
    const below = this.#below;
    if (below === undefined) return;
    if (!below.isOpen) throw new StaleCallError('A call on a draft was committed');
    below.root = this.#readOnly ? this.#recordedRoot(below.root) : withSlicesOf(this.root, below.root, this.#opened);
    if (this.#events !== undefined) for (const event of this.#events) below.#remember(event);
  }

  /** A call without effects leaves the root as it is now, which others may have moved on, and what was recorded of it. */
  #recordedRoot(root: Root): Root {
    return (this.#events ?? []).reduce((next, event) => reduceRoot(next, event), root);
  }

  #discardState(): void {
    if (this.#below === undefined || this.#readOnly || !this.#below.isOpen) return;
    this.#below.root = rollBack(this.#below.root, this.root);
  }

  async #discardAll(hurry: boolean): Promise<void> {
    const undone = await Promise.allSettled([this.#files?.rollback(), this.#scope?.discard({ hurry })]);
    const failed = undone.find((one) => one.status === 'rejected');
    if (failed === undefined) return;
    const cause: unknown = failed.reason;
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#ground.poison = new RestoreFailed(`What a failed call had changed could not be put back: ${why}`, { cause });
    throw this.#ground.poison;
  }

  #openFiles(base: Filesystem): FileTransaction {
    const files = openFileTransaction(base, {
      readOnly: this.#readOnly,
      onRefusal: (error) => this.#break(error),
      onCommit: (undos) => this.#below?.keepUndone(undos),
    });
    // A tool left behind that asks for files only now gets some that refuse everything.
    if (!this.isOpen) void files.rollback();
    return files;
  }

  #break(error: unknown): void {
    this.breach ??= { error };
  }

  #remember(event: SessionEvent): void {
    if (this.#below === undefined) this.#ground.subscribers.tell(event);
    else {
      this.#events ??= [];
      this.#events.push(event);
    }
  }

  get #canRegister(): boolean {
    return this.isOpen && !this.#readOnly;
  }

  #assertWritable(what: string): void {
    if (!this.isOpen) throw new StaleCallError(what);
    if (this.#readOnly) {
      const error = new ReadOnlyError(what);
      this.#break(error);
      throw error;
    }
    if (this.#lock?.isHeld === true) {
      throw new SessionError(`${what} while a call is running on this session. Wait until the call has settled.`);
    }
  }
}
