import type { Answer } from '@lastcall/core';
import type { MachineEntry } from '../tree/log.ts';
import type { MachineMessage } from '../tree/message.ts';
import type { Suspension } from '../tree/suspension.ts';
import type { Instance, Tree } from '../tree/tree.ts';
import type { CommandOptions } from './command-options.ts';

/** An agent as a tree of states. `runMachine` runs it. */
export interface Machine {
  /** The current tree: immutable plain data. */
  readonly tree: Tree;
  /** Everything that happened, in order: the entries that steps have reported, and those not reported yet. */
  readonly history: readonly MachineEntry[];
  /** The calls that wait for `resume`. */
  readonly suspended: readonly Suspension[];
  /** The leaf that talks with the user; undefined while only workers act. */
  readonly primary: Instance | undefined;
  instance(id: string): Instance | undefined;
  /**
   * Sends a message to the machine. If a step is running, the message waits for its end and is answered in the same
   * run; otherwise the next run answers it.
   */
  enqueue(message: MachineMessage): void;
  /**
   * Runs a command of the primary's node, or of the nearest ancestor that has one of this name, once and before any
   * further inference. It runs in parallel with a running step unless it changes the tree. Resolves with the command's
   * return value; if the command fails, rejects with a MachineError and changes nothing.
   */
  command(name: string, input?: unknown, options?: CommandOptions): Promise<unknown>;
  /**
   * Answers a call that waits: the payload is its result. The next run continues without another message. Throws and
   * changes nothing if no call waits under the id.
   */
  resume(suspendId: string, payload?: unknown): void;
  /**
   * Gives an answer of core to a call that waits, by the call's id: for hosts that keep such answers. Returns false and changes nothing if
   * the call does not wait any more.
   */
  answer(callId: string, answer: Answer): boolean;
  /** Closes the resources of all its sessions, for a host that does not run it again. */
  dispose(): Promise<void>;
}
