import type { Settlement, Usage } from '@lastcall/core';
import type { MachineEntry, Origin } from '../tree/log.ts';
import { ownerOf } from '../tree/thread.ts';
import { findInstance } from '../tree/tree.ts';
import { type Conclusion, concludeLeaf } from './conclude-leaf.ts';
import { type LiveMachine, originOf } from './live-machine.ts';
import type { LeafReport, MachineStep, YieldReason } from './machine-step.ts';
import { type LeafOutcome, type LeafRunOptions, runLeaf } from './run-leaf.ts';

/** Runs the leaves in parallel, and applies their results to the tree in tree order. */
export async function runStep(
  machine: LiveMachine,
  ids: readonly string[],
  options: LeafRunOptions,
): Promise<Omit<MachineStep, 'done'> & { readonly fatal: boolean }> {
  const leave = await machine.steps.enter();
  try {
    const leaves = ids.flatMap((id) => findInstance(machine.tree, id) ?? []);
    const outcomes = await Promise.all(leaves.map((leaf) => runLeaf(machine, leaf, options)));
    const conclusions = outcomes.map((outcome) => conclude(machine, outcome));
    finishStored(machine);
    return toStep(machine, conclusions);
  } finally {
    machine.underway.clear();
    if (machine.commands.isFree) machine.ledger.clear();
    leave();
  }
}

/** A step without a leaf: a silent message was delivered, a call waits, or the steps are used up. */
export function emptyStep(machine: LiveMachine, yieldReason: YieldReason): Omit<MachineStep, 'done'> {
  takeInLeftovers(machine);
  const { fatal: _fatal, ...step } = toStep(machine, []);
  return { ...step, yieldReason };
}

/** Finishes what a machine stored in the middle of a step still had to do before the next one. */
export function finishStored(machine: LiveMachine): void {
  takeInLeftovers(machine);
  machine.takeOutCeded();
}

function conclude(machine: LiveMachine, outcome: LeafOutcome): Conclusion {
  const { leaf, thread, changes } = outcome;
  const conclusion = concludeLeaf(outcome, findInstance(machine.tree, leaf.id));
  const { stop } = conclusion.report;
  // For core, a terminal tool has ended the turn even if calls wait; here a waiting transition takes precedence. The
  // thread must say so too, or the answer would arrive in a turn that is over, and the model would be asked before the
  // transition counts.
  if (stop.reason === 'suspended' && isEnded(outcome)) thread.transcript.push({ kind: 'stop', stop });
  machine.log.takeIn(thread, originOf(leaf));
  thread.inFlight = false;
  machine.leftovers.delete(thread);
  for (const entry of [...changes, ...machine.apply(...conclusion.events)]) machine.log.happened(entry);
  return conclusion;
}

function isEnded({ end }: LeafOutcome): boolean {
  return end.kind === 'turn' && end.result.stop.reason === 'end_turn';
}

/**
 * Logs the threads that had advanced when the machine was stored in the middle of a step, and that no leaf acts on now.
 */
function takeInLeftovers(machine: LiveMachine): void {
  for (const thread of machine.leftovers) {
    const id = ownerOf(thread, machine.tree);
    machine.log.takeIn(thread, { instanceId: id, node: findInstance(machine.tree, id)?.node ?? '' });
    thread.inFlight = false;
  }
  machine.leftovers.clear();
}

function toStep(
  machine: LiveMachine,
  conclusions: readonly Conclusion[],
): Omit<MachineStep, 'done'> & { readonly fatal: boolean } {
  const leaves = conclusions.map(({ report }) => report);
  const spoke = conclusions.find(({ response }) => response !== undefined);
  const broken = conclusions.find(({ fatal }) => fatal);
  const entries = machine.log.tell(machine.threads);
  return {
    yieldReason: broken === undefined ? reasonOf(leaves) : 'error',
    ...(spoke?.response === undefined ? {} : { response: spoke.response }),
    ...(spoke?.output === undefined ? {} : { output: spoke.output }),
    settlements: settlementsIn(entries),
    entries,
    leaves,
    suspended: machine.suspended,
    ...(broken?.error === undefined ? {} : { error: broken.error }),
    usage: usageIn(entries),
    fatal: broken !== undefined,
  };
}

// If only workers acted, the step reports the first of these reasons that one of them has.
const WORKER_REASONS: readonly YieldReason[] = ['cede', 'transition', 'suspend'];

function reasonOf(leaves: readonly LeafReport[]): YieldReason {
  const primary = leaves.find(({ worker }) => !worker);
  if (primary !== undefined) return primary.yieldReason;
  if (leaves.length === 0) return 'end_turn';
  return WORKER_REASONS.find((reason) => leaves.some((leaf) => leaf.yieldReason === reason)) ?? 'tool_use';
}

/** Calls that ran in parallel ended in any order; they are reported in the order in which the model asked for them. */
function settlementsIn(entries: readonly MachineEntry[]): readonly (Settlement & Origin)[] {
  const asked = entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : []));
  const place = new Map(asked.map((callId, index) => [callId, index]));
  const placeOf = ({ callId }: Settlement): number => place.get(callId) ?? -1;
  return entries
    .flatMap((entry) =>
      entry.kind === 'settled' ? [{ ...entry.settlement, instanceId: entry.instanceId, node: entry.node }] : [],
    )
    .sort((one, other) => placeOf(one) - placeOf(other));
}

function usageIn(entries: readonly MachineEntry[]): Usage {
  const total = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  for (const entry of entries) {
    if (entry.kind !== 'reply') continue;
    total.inputTokens += entry.usage.inputTokens;
    total.outputTokens += entry.usage.outputTokens;
    total.totalTokens += entry.usage.totalTokens;
  }
  return total;
}
