import { RestoreFailed, StaleCallError } from '../errors.ts';
import { type FileTransaction, openFileTransaction } from '../files/file-transaction.ts';
import type { ChangedFile, Filesystem } from '../files/filesystem.ts';
import type { Change } from '../results/changes.ts';
import { ResourceScope } from './resource-scope.ts';
import type { SharedState } from './shared-state.ts';

type Undos = readonly (() => Promise<void>)[];

/** What a layer's files and resources need to know about the layer. */
export interface EffectsOptions {
  readonly shared: SharedState;
  readonly readOnly: boolean;
  readonly below: { readonly filesystem: Filesystem; readonly scope: ResourceScope };
  readonly guard: ((filesystem: Filesystem) => Filesystem) | undefined;
  readonly isOpen: () => boolean;
  /** Called if a write was refused: the call fails, even if its tool catches the error. */
  readonly onBreach: (error: unknown) => void;
  /** Called with the undo functions of the committed changes, oldest first. */
  readonly onCommit: (undos: Undos) => void;
}

/** The files and resources of one layer: opened on first use, committed or rolled back with it. */
export class LayerEffects {
  readonly #options: EffectsOptions;
  #files: FileTransaction | undefined;
  #guarded: Filesystem | undefined;
  #scope: ResourceScope | undefined;

  constructor(options: EffectsOptions) {
    this.#options = options;
  }

  get filesystem(): Filesystem {
    this.#files ??= this.#openFiles();
    if (this.#options.guard === undefined) return this.#files.filesystem;
    this.#guarded ??= this.#options.guard(this.#files.filesystem);
    return this.#guarded;
  }

  get scope(): ResourceScope {
    const { below, readOnly, shared, isOpen } = this.#options;
    if (this.#scope === undefined && !isOpen()) throw new StaleCallError('A resource was asked for');
    const { logger, clock } = shared;
    const filesystem = (): Filesystem => this.filesystem;
    this.#scope ??= new ResourceScope({ below: below.scope, readOnly, filesystem, logger, clock });
    return this.#scope;
  }

  get changes(): readonly Change[] {
    return [...(this.#files?.changes() ?? []), ...(this.#scope?.changes() ?? [])];
  }

  get hasFiles(): boolean {
    return this.#files !== undefined;
  }

  /** What was written and deleted. */
  async changedFiles(): Promise<readonly ChangedFile[]> {
    return (await this.#files?.changedFiles()) ?? [];
  }

  async commit(): Promise<void> {
    await this.#files?.commit();
    if (this.#scope === undefined) return;
    this.#options.onCommit(this.#scope.undos());
    await this.#scope.commit();
  }

  /** Rejects with RestoreFailed if something could not be restored. */
  async discard(hurry: boolean): Promise<void> {
    const undone = await Promise.allSettled([this.#files?.rollback(), this.#scope?.discard({ hurry })]);
    const failed = undone.find((one) => one.status === 'rejected');
    if (failed === undefined) return;
    const cause: unknown = failed.reason;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new RestoreFailed(`What a failed call had changed could not be put back: ${why}`, { cause });
  }

  #openFiles(): FileTransaction {
    const { below, readOnly, onBreach, onCommit, isOpen } = this.#options;
    const files = openFileTransaction(below.filesystem, { readOnly, onRefusal: onBreach, onCommit });
    // An abandoned tool that requests files only now gets a file system that refuses everything.
    if (!isOpen()) void files.rollback();
    return files;
  }
}
