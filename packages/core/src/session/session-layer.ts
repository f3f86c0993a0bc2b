import type { Clock } from '../clock.ts';
import {
  type JournalStalled,
  OptionsError,
  ReadOnlyError,
  RestoreFailed,
  SessionError,
  SliceVersionError,
  StaleCallError,
} from '../errors.ts';
import type { ChangedFile, Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import { type Change, countEvents, joinChanges } from '../results/changes.ts';
import { CallLock } from './call-lock.ts';
import { assertKnownEvent } from './known-event.ts';
import { LayerEffects } from './layer-effects.ts';
import { LayerState } from './layer-state.ts';
import { LayersAbove } from './layers-above.ts';
import type { Recording } from './recording.ts';
import type { AnyResource, Resources } from './resource.ts';
import { ResourceScope } from './resource-scope.ts';
import { emptyRoot, type Root, rollBack, withSlice } from './root.ts';
import type { Session } from './session.ts';
import { rootToJson, type SessionJson } from './session-json.ts';
import type { SharedScope } from './shared-resources.ts';
import { assertUnpoisoned, createSharedState, type SharedState } from './shared-state.ts';
import type { AnySlice, SessionEvent, Slice } from './slice.ts';
import type { Snapshot } from './snapshots.ts';
import { pointOf, takeSnapshot } from './snapshots.ts';
import { succeededTools } from './succeeded-tools.ts';
import { UndoLog } from './undo-log.ts';

export type FilesystemGuard = (filesystem: Filesystem, layer: SessionLayer) => Filesystem;

/**
 * A session, or the draft of a call on it. The bottom layer is the session that a host made. Each call opens a layer
 * above: state, files and resources change there, and `commit` moves the changes down or `discard` removes them. A
 * nested call opens a layer above its call's, and ends with it. After its end a layer refuses every write.
 */
export class SessionLayer implements Session {
  readonly shared: SharedState;
  readonly state: LayerState;
  /** What the journal of the running turn knows of the state. Undefined without a journal. */
  recording: Recording | undefined;
  /** What the journal of earlier turns, or of a replay, knows of the state. */
  recorded: Recording | undefined;
  /**
   * An error that makes the call fail even if its tool caught it: a reducer that threw, a write from a read-only tool.
   */
  breach: { readonly error: unknown } | undefined;
  readonly #below: SessionLayer | undefined;
  readonly #readOnly: boolean;
  readonly #guard: FilesystemGuard | undefined;
  #open = true;
  #phase: 'undecided' | 'deciding' | 'decided' = 'undecided';
  #deciding: Promise<void> | undefined;
  #lock: CallLock | undefined;
  #turns: CallLock | undefined;
  #undoLog: UndoLog | undefined;
  #effects: LayerEffects | undefined;
  /** Changes of nested calls that were rolled back. */
  #lost: readonly Change[] | undefined;
  /** The layers on top of this one. Most layers never have one. */
  #above: LayersAbove | undefined;
  /** The resources of the session. Only the bottom layer has them; the others have LayerEffects. */
  #scope: ResourceScope | undefined;

  private constructor(
    shared: SharedState,
    root: Root,
    above?: { below: SessionLayer; readOnly: boolean; guard: FilesystemGuard | undefined },
  ) {
    this.shared = shared;
    this.state = new LayerState(root);
    this.#below = above?.below;
    this.#readOnly = above?.readOnly ?? false;
    this.#guard = above?.guard;
  }

  static bottom(options: {
    logger: Logger;
    clock: Clock;
    filesystem: (resources: ResourceScope) => Filesystem;
    keepsOpened: boolean;
    shared?: SharedScope | undefined;
  }): SessionLayer {
    const shared = createSharedState({ ...options, filesystem: () => options.filesystem(scope) });
    const scope = new ResourceScope({ logger: shared.logger, clock: shared.clock, shared: options.shared });
    const layer = new SessionLayer(shared, withSlice(emptyRoot, succeededTools));
    layer.#scope = scope;
    return layer;
  }

  static of(session: Session): SessionLayer {
    if (session instanceof SessionLayer) return session;
    throw new OptionsError('session', 'must come from createSession() or be the session of a tool context.');
  }

  /** Opens a layer for a call. `guard` wraps its file system. */
  open(options: { readOnly: boolean; guard?: FilesystemGuard | undefined }): SessionLayer {
    // A nested call of a call without effects may not write either.
    const readOnly = options.readOnly || this.#readOnly;
    const layer = new SessionLayer(this.shared, this.state.root, { below: this, readOnly, guard: options.guard });
    this.#above ??= new LayersAbove(this.#below === undefined ? 'session' : 'draft');
    this.#above.add(layer, !readOnly);
    return layer;
  }

  /** Throws if something could not be restored. */
  assertUnpoisoned(): void {
    assertUnpoisoned(this.shared);
  }

  /** Something could not be restored: the session refuses further calls. */
  poison(error: RestoreFailed | JournalStalled): void {
    this.shared.poison ??= error;
  }

  /** Throws if the session may not be used: poisoned, disposed of, or the draft of a call that has ended. */
  assertUsable(): void {
    this.assertUnpoisoned();
    if (!this.isOpen) throw new StaleCallError('A session was used');
  }

  get isOpen(): boolean {
    return this.#open && (this.#below === undefined || this.#below.isOpen);
  }

  /** Serializes turns on this layer. */
  get turns(): CallLock {
    this.#turns ??= new CallLock();
    return this.#turns;
  }

  /** Serializes calls on this layer. Most layers never have one. */
  get lock(): CallLock {
    this.#lock ??= new CallLock();
    return this.#lock;
  }

  /** Acts at once, or when the calls that may write have ended: they are about to replace the root. */
  whenNoDraft(act: () => void): void {
    if (this.#above === undefined) act();
    else this.#above.whenNoDraft(act);
  }

  get isReadOnly(): boolean {
    return this.#readOnly;
  }

  get logger(): Logger {
    return this.shared.logger;
  }

  read<S>(slice: Slice<S>): S {
    return this.#claiming(() => this.state.read(slice, this.isOpen && !this.#readOnly));
  }

  register(...slices: readonly AnySlice[]): void {
    const root = this.#claiming(() => this.state.with(slices));
    if (root === this.state.root) return;
    if (!this.isOpen) throw new StaleCallError('A slice was registered');
    // Allowed during a running call: it adds a slice in its initial state, and the call's commit keeps it.
    this.state.root = root;
  }

  /** For the runtime, which holds the lock: registers slices, even while a call is writing. */
  adopt(slices: readonly AnySlice[]): void {
    this.state.root = this.state.with(slices);
  }

  dispatch<E extends SessionEvent>(event: E): void {
    if (typeof event?.type !== 'string') throw new SessionError('An event is an object with a text "type".');
    if (event.type === 'ToolInvoked') throw new SessionError('Only the runtime may dispatch "ToolInvoked".');
    this.#assertWritable(`Event "${event.type}" was dispatched`);
    const { root } = this.state;
    try {
      if (!this.shared.subscribers.has(event.type)) assertKnownEvent(root, event.type);
      this.state.reduce(event);
      // Checked here, it is the host's error. Found later, it would fail an unrelated call.
      this.recording?.check(this.state.root);
    } catch (error) {
      this.state.root = root;
      this.#break(error);
      throw error;
    }
    this.#remember(event);
  }

  /** For policies: an event that counts if the call succeeds, even if the call itself may not write. */
  record<E extends SessionEvent>(event: E): void {
    if (!this.#readOnly) {
      this.dispatch(event);
      return;
    }
    if (!this.isOpen) throw new StaleCallError(`Event "${event.type}" was recorded`);
    this.state.addEvent(event);
  }

  subscribe(type: string, listener: (event: never) => void): () => void {
    return this.shared.subscribers.add(type, listener);
  }

  snapshot(): Snapshot {
    const { root } = this.state;
    return takeSnapshot({ root, written: this.recording?.written ?? root, shared: this.shared });
  }

  restore(snapshot: Snapshot): void {
    const { root, written } = pointOf(snapshot, this.shared);
    this.#assertWritable('A snapshot was restored');
    this.state.root = rollBack(root, this.state.root);
    this.recording?.goBack(written);
  }

  toJSON(): SessionJson {
    return rootToJson(this.state.root);
  }

  get scope(): ResourceScope {
    return this.#scope ?? this.#ownEffects().scope;
  }

  get resources(): Resources {
    return this.scope;
  }

  addResource(resource: AnyResource): void {
    this.scope.register(resource);
  }

  get filesystem(): Filesystem {
    return this.#below === undefined ? this.shared.baseFilesystem() : this.#ownEffects().filesystem;
  }

  async dispose(): Promise<void> {
    this.#open = false;
    await this.scope.close();
  }

  /** From here on, keeps the undo functions for files and resources of calls committed on this layer. */
  keepUndo(): UndoLog {
    this.#undoLog = new UndoLog();
    return this.#undoLog;
  }

  /** From here on the layer refuses writes; its changes are still undecided. */
  close(): void {
    this.#open = false;
  }

  /** The call's changes. After `discard`: the changes that were rolled back. */
  get changes(): readonly Change[] {
    const events = countEvents(this.state.events);
    return this.#effects === undefined ? events : [...events, ...this.#effects.changes];
  }

  /** Changes of nested calls that were rolled back. */
  get lost(): readonly Change[] {
    return this.#lost ?? nothing;
  }

  /**
   * What the call did to files that a journal stores. From here on the layer refuses writes. Undefined if there is nothing to store.
   */
  changedFiles(): undefined | Promise<readonly ChangedFile[]> {
    const effects = this.#effects;
    // A call that used no file must not be the one that opens a file system.
    if (effects?.hasFiles !== true || this.#readOnly || this.shared.baseFilesystem().isJournaled !== true)
      return undefined;
    this.#open = false;
    return (async () => {
      // What nested calls wrote and did not commit is undone first.
      await this.#above?.endAll();
      return await effects.changedFiles();
    })();
  }

  /**
   * Makes the call's changes final. Asynchronous only if files or resources were touched. Throws, with everything still
   * undecided, if a reducer refuses what was recorded.
   */
  commit(): void | Promise<void> {
    if (this.#phase !== 'undecided') throw new StaleCallError('A call was committed');
    this.#open = false;
    if (this.#effects === undefined && this.#above?.isEmpty !== false) {
      this.#moveDown();
      this.#decided();
      return;
    }
    this.#phase = 'deciding';
    this.#deciding = this.#commitAll();
    return this.#deciding;
  }

  /** Undoes the call's changes. Rejects with RestoreFailed, and poisons the session, if that fails. */
  discard(options: { hurry?: boolean } = {}): void | Promise<void> {
    // The surrounding call may have ended first and decided for both.
    if (this.#phase !== 'undecided') return this.#deciding?.catch(() => {});
    this.#open = false;
    if (this.#effects === undefined && this.#above?.isEmpty !== false) {
      this.#tellLost();
      this.#decided();
      return;
    }
    this.#phase = 'deciding';
    this.#deciding = this.#discardAll(options.hurry ?? false);
    return this.#deciding;
  }

  async #commitAll(): Promise<void> {
    await this.#above?.endAll();
    try {
      // Steps that can be refused come first: once files are committed there is no way back.
      this.rootUpon(this.#belowOrThrow().state.root);
    } catch (error) {
      this.#phase = 'undecided';
      throw error;
    }
    try {
      await this.#effects?.commit();
      this.#moveDown();
    } finally {
      this.#decided();
    }
  }

  async #discardAll(hurry: boolean): Promise<void> {
    try {
      await this.#above?.endAll();
      await this.#effects?.discard(hurry);
    } catch (error) {
      if (error instanceof RestoreFailed) this.poison(error);
      throw error;
    } finally {
      this.#tellLost();
      this.#decided();
    }
  }

  /** The session itself keeps no count: the calls on it do. */
  #tellLost(): void {
    const below = this.#below;
    if (below === undefined || below.#below === undefined) return;
    const lost = [...this.changes, ...this.lost];
    if (lost.length > 0) below.#lost = joinChanges([...below.lost, ...lost]);
  }

  #moveDown(): void {
    const below = this.#belowOrThrow();
    below.state.root = this.rootUpon(below.state.root);
    for (const event of this.state.events) below.#remember(event);
    if (this.#lost !== undefined && below.#below !== undefined)
      below.#lost = joinChanges([...below.lost, ...this.#lost]);
  }

  #belowOrThrow(): SessionLayer {
    if (this.#below?.isOpen === true) return this.#below;
    throw new StaleCallError('A call was committed');
  }

  /** The root below after the commit of this layer. */
  rootUpon(below: Root): Root {
    return this.#readOnly ? this.state.recordedUpon(below) : this.state.committedUpon(below);
  }

  get isDecided(): boolean {
    return this.#phase === 'decided';
  }

  #decided(): void {
    const below = this.#below;
    this.#phase = 'decided';
    if (below === undefined) return;
    if (!this.#readOnly && below.isOpen) below.state.root = this.state.loggedUpon(below.state.root);
    below.#above?.remove(this, !this.#readOnly);
  }

  #ownEffects(): LayerEffects {
    const guard = this.#guard;
    const below = this.#below as SessionLayer;
    this.#effects ??= new LayerEffects({
      shared: this.shared,
      readOnly: this.#readOnly,
      below,
      guard: guard === undefined ? undefined : (filesystem) => guard(filesystem, this),
      isOpen: () => this.isOpen,
      onBreach: (error) => this.#break(error),
      onCommit: (undos) => below.#undoLog?.add(undos),
    });
    return this.#effects;
  }

  /** A call that met stored state which it cannot read has failed, even if its tool continues without it. */
  #claiming<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof SliceVersionError) this.#break(error);
      throw error;
    }
  }

  #break(error: unknown): void {
    this.breach ??= { error };
  }

  #remember(event: SessionEvent): void {
    if (this.#below === undefined) this.shared.subscribers.tell(event);
    else this.state.addEvent(event);
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

const nothing: readonly Change[] = [];
