import type { ToolContext } from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import { MachineError } from '../errors.ts';
import type { Tree } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import { type Seat, type View, viewSlice } from '../tree/view.ts';

/** What only the running machine knows of whoever acts: the tree as it is now, and who else writes. */
export interface Workplace {
  readonly charter: CompiledCharter;
  /** The tree now, what others committed included. */
  tree(): Tree;
  /** Claims the fields that a call is about to commit, or gives the reason why it may not. */
  claim(events: readonly TreeEvent[]): string | undefined;
  /** Whether a transition of this batch has suspended already. */
  suspended: boolean;
  /** Whether `suspend` means anything here. */
  readonly canSuspend: boolean;
}

const workplaces = new WeakMap<Seat, Workplace>();

export function open(seat: Seat, workplace: Workplace): void {
  workplaces.set(seat, workplace);
}

export function viewOf(ctx: ToolContext): View {
  return ctx.session.read(viewSlice);
}

export function workplaceOf(ctx: ToolContext): Workplace {
  const found = workplaces.get(viewOf(ctx).seat);
  if (found === undefined)
    throw new MachineError('machine', `"${ctx.toolName}" belongs to a machine and runs only in one.`);
  return found;
}
