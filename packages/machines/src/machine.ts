import type { SessionOptions } from '@lastcall/core';
import { type Charter, CompiledCharter } from './charter/charter.ts';
import type { KnownRoot, RootState } from './charter/target-types.ts';
import type { NodeRef } from './charter/transition.ts';
import { CharterError } from './errors.ts';
import { LiveMachine } from './run/live-machine.ts';
import type { CommandOptions } from './run/run-command.ts';
import { stateFor } from './run/transition-tool.ts';
import type { MachineEntry } from './tree/log.ts';
import type { MachineMessage } from './tree/message.ts';
import type { Suspension } from './tree/suspension.ts';
import { type Instance, ROOT, type Tree } from './tree/tree.ts';

/** An agent as a tree of states. It does something when `runMachine` runs it. */
export interface Machine {
  /** What it is now: immutable plain data. */
  readonly tree: Tree;
  /** Everything that happened, in order: what the steps told, and what they have not told yet. */
  readonly history: readonly MachineEntry[];
  /** The calls that wait for `resume`. */
  readonly suspended: readonly Suspension[];
  /** The leaf that talks with the user; undefined while only workers act. */
  readonly primary: Instance | undefined;
  instance(id: string): Instance | undefined;
  /**
   * Says something to the machine. It waits for the end of the step that runs, if one does, and is answered in the same
   * run; otherwise by the next one.
   */
  enqueue(message: MachineMessage): void;
  /**
   * Runs a command of the primary's node, or of the nearest ancestor that has one of this name, once and before any
   * further inference; beside a step that runs, unless it changes the tree. Resolves with what it returned; rejects with a
   * MachineError, nothing changed, where it fails.
   */
  command(name: string, input?: unknown, options?: CommandOptions): Promise<unknown>;
  /**
   * Answers a call that waits: the payload is its result. The next run goes on without another message. Throws, with
   * nothing changed, where nothing waits under the id.
   */
  resume(suspendId: string, payload?: unknown): void;
}

/** `N` are the charter's nodes, `R` the root: where they are known, so is the state. */
export interface MachineOptions<N = unknown, R extends NodeRef = NodeRef> {
  /** The node of the root, or its name. */
  root: KnownRoot<N, R>;
  /** The root's state. Default: the node's initial state. */
  state?: RootState<N, R>;
  /** For tools that use core's session: slices, resources and files, asked for each conversation by its instance's id. */
  session?: (instanceId: string) => SessionOptions;
}

/** A machine at its beginning: the root, waiting for a message. */
export function createMachine<N = unknown, const R extends NodeRef = NodeRef>(
  charter: Charter<N>,
  options: MachineOptions<N, R>,
): Machine {
  const compiled = CompiledCharter.of(charter);
  if (options?.root === undefined) throw new CharterError('root', 'must be a node of the charter.');
  if (options.session !== undefined && typeof options.session !== 'function')
    throw new CharterError('session', 'must be a function of an instance id that gives the options of its session.');
  const node = compiled.resolve(options.root, 'root');
  if (node.worker) throw new CharterError('root', `"${node.name}" is a worker, and the root talks with the user.`);
  const root: Instance = Object.freeze({
    id: ROOT,
    node: node.name,
    state: stateFor(node, options.state),
    worker: false,
    phase: Object.freeze({ kind: 'idle' }),
    waits: [],
    born: 0,
    children: [],
  });
  const tree: Tree = { root, packs: compiled.packStates, queue: [], speaker: ROOT };
  return new LiveMachine({ charter: compiled, tree, sessionOptions: options.session ?? (() => ({})) });
}
