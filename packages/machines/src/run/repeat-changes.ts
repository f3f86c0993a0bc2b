import type { Staged, ToolContext } from '@lastcall/core';
import { parseState } from '../charter/state-schema.ts';
import { applyEvent } from '../tree/apply-event.ts';
import type { MachineChange, MachineStaged } from '../tree/machine-record.ts';
import { findInstance, type Tree } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import { type Actor, dispatchChange } from '../tree/view.ts';
import { type MachineContext, machineContextOf, viewOf } from './machine-context.ts';

/** What a call itself does to the machine: it changes states, or takes a transition. */
type CallChange = Extract<TreeEvent, { kind: 'patched' | 'moved' | 'spawned' | 'ceded' }>;

/** The instance whose call this is, in a run of a machine. */
export function callerOf(ctx: ToolContext): Actor {
  return viewOf(ctx).actor;
}

/** What an earlier call did to its machine, as its journal has it. Empty if it changed nothing. */
export function changesOfCall(staged: Staged | undefined): readonly CallChange[] {
  const { machine = [] } = (staged ?? {}) as MachineStaged;
  const changes = machine.flatMap((entry): readonly MachineChange[] => [
    ...(entry.kind === 'machine' ? [entry.change] : []),
    ...(entry.also ?? []),
  ]);
  return changes.filter((change): change is CallChange => CALL_CHANGES.has(change.kind));
}

const CALL_CHANGES: ReadonlySet<MachineChange['kind']> = new Set<CallChange['kind']>([
  'patched',
  'moved',
  'spawned',
  'ceded',
]);

/** True if the call took a transition. */
export function isTransitionOf(changes: readonly CallChange[]): boolean {
  return changes.some(({ kind }) => kind !== 'patched');
}

/** True if the changes of an earlier call fit the machine as it is now. They do not if e.g. another instance made them. */
export function canRepeat(ctx: ToolContext, changes: readonly CallChange[]): boolean {
  if (changes.length === 0) return true;
  const { actor } = viewOf(ctx);
  const machineContext = machineContextOf(ctx);
  if (!changes.every((change) => isOf(actor, change))) return false;
  // The tool itself says that another transition of the reply waits.
  return !(machineContext.suspended && isTransitionOf(changes)) && fits(machineContext, actor, changes);
}

/**
 * Gives a call the changes of an earlier one, in place of running its tool: they count if the call ends well. Returns false, and changes
 * nothing, if they do not fit.
 */
export function repeatChanges(ctx: ToolContext, changes: readonly CallChange[]): boolean {
  if (changes.length === 0) return true;
  if (!canRepeat(ctx, changes) || machineContextOf(ctx).claim(changes) !== undefined) return false;
  for (const change of changes) dispatchChange(ctx.session, change);
  return true;
}

function isOf({ instanceId }: Actor, change: CallChange): boolean {
  if (change.kind !== 'patched') return change.id === instanceId;
  return change.target.kind === 'pack' || change.target.id === instanceId;
}

/** The changes are tried on the tree now, while the tool can still be run instead. */
function fits({ charter, tree }: MachineContext, { instanceId }: Actor, changes: readonly CallChange[]): boolean {
  try {
    let after: Tree = tree();
    for (const change of changes) after = applyEvent(after, change).tree;
    const instance = findInstance(after, instanceId);
    if (instance !== undefined) parseState(charter.node(instance.node).definition.state, instance.state, 'state');
    for (const [name, state] of Object.entries(after.packs)) parseState(charter.packs.get(name)?.state, state, 'state');
    for (const change of changes)
      if (change.kind === 'spawned')
        for (const { node, state } of change.children) parseState(charter.node(node).definition.state, state, 'state');
    return true;
  } catch {
    return false;
  }
}
