import { LastcallError } from '@lastcall/core';

/** Thrown when a charter that cannot work is built. `path` is where, like `nodes.refund.transitions.done`. */
export class CharterError extends LastcallError {
  override readonly name: string = 'CharterError';
  readonly path: string;

  constructor(path: string, problem: string, options?: { cause?: unknown }) {
    super('charter', `${path}: ${problem}`, options);
    this.path = path;
  }
}

/**
 * Thrown when a machine cannot do what was asked: a wrong id, a command that failed, a transition that does not fit its
 * tree.
 */
export class MachineError extends LastcallError {
  override readonly name: string = 'MachineError';

  constructor(code: MachineErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

export type MachineErrorCode = 'machine' | 'transition' | 'command' | 'unknown_suspension' | 'message';

/** Thrown when the response of a failed run is read. `cause` is the error that ended the run, if one was thrown. */
export class RunFailed extends LastcallError {
  override readonly name: string = 'RunFailed';

  constructor(message: string, options?: { cause?: unknown }) {
    super('run_failed', message, options);
  }
}

/** The state does not fit its schema or is not plain data. Nothing was changed. */
export class StateError extends LastcallError {
  override readonly name: string = 'StateError';
  readonly path: string;

  constructor(path: string, problem: string, options?: { cause?: unknown }) {
    super('state', `${path}: ${problem}`, options);
    this.path = path;
  }
}

/**
 * A stored machine cannot be restored. `path` is where in it, like `tree.root.children[0].state.count`. If an instance
 * does not fit its charter, `instanceId` and `node` name it.
 */
export class StoredMachineError extends LastcallError {
  override readonly name: string = 'StoredMachineError';
  readonly path: string;
  /** What is wrong at the path. */
  readonly problem: string;
  readonly instanceId: string | undefined;
  readonly node: string | undefined;
  /** The stored tree, for a host that repairs it. Not enumerable: a log of the error does not show it. */
  declare readonly tree: unknown;

  constructor(path: string, problem: string, options: StoredMachineErrorOptions = {}) {
    const { cause, instanceId, node, tree } = options;
    const where = instanceId === undefined ? '' : ` This is instance "${instanceId}" of node "${node}".`;
    super(
      'stored_machine',
      `The stored machine cannot be restored. ${path}: ${problem}${where}`,
      cause === undefined ? undefined : { cause },
    );
    this.path = path;
    this.problem = problem;
    this.instanceId = instanceId;
    this.node = node;
    Object.defineProperty(this, 'tree', { value: tree, enumerable: false });
  }
}

export interface StoredMachineErrorOptions {
  cause?: unknown;
  instanceId?: string | undefined;
  node?: string | undefined;
  tree?: unknown;
}
