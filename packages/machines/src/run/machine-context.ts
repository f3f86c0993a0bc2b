import type { ToolContext } from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import { MachineError } from '../errors.ts';
import type { Tree } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import { type Actor, type View, viewSlice } from '../tree/view.ts';

/** What only the running machine knows about an actor: the current tree, and who else writes. */
export interface MachineContext {
  readonly charter: CompiledCharter;
  /** The current tree, with what others have committed. */
  tree(): Tree;
  /** Claims the fields that a call is about to commit, or returns the reason why it may not. */
  claim(events: readonly TreeEvent[]): string | undefined;
  /** Whether a transition of this batch has already suspended. */
  suspended: boolean;
  /** Whether `suspend` is allowed here. */
  readonly canSuspend: boolean;
}

const machineContexts = new WeakMap<Actor, MachineContext>();

export function open(actor: Actor, machineContext: MachineContext): void {
  machineContexts.set(actor, machineContext);
}

export function viewOf(ctx: ToolContext): View {
  return ctx.session.read(viewSlice);
}

export function machineContextOf(ctx: ToolContext): MachineContext {
  const found = machineContexts.get(viewOf(ctx).actor);
  if (found === undefined)
    throw new MachineError('machine', `"${ctx.toolName}" belongs to a machine and runs only in one.`);
  return found;
}
