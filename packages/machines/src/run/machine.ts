import type { MachineEntry } from '../tree/log.ts';
import type { MachineMessage } from '../tree/message.ts';
import type { Suspension } from '../tree/suspension.ts';
import type { Instance, Tree } from '../tree/tree.ts';
import type { CommandOptions } from './command-options.ts';

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
