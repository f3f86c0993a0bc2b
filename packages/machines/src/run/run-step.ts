import { JournalStalled, type Settlement, type Usage } from '@lastcall/core';
import type { MachineEntry, Origin } from '../tree/log.ts';
import type { Thread } from '../tree/thread.ts';
import { findInstance, type Instance } from '../tree/tree.ts';
import { type Conclusion, concludeLeaf } from './conclude-leaf.ts';
import { type LiveMachine, originOf } from './live-machine.ts';
import type { LeafReport, MachineStep, YieldReason } from './machine-step.ts';
import { cancelOutdatedWaits } from './outdated-waits.ts';
import type { Plan } from './plan.ts';
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
    const broken = openSessions(machine, leaves);
    if (broken !== undefined) return { ...toStep(machine, []), yieldReason: 'error', ...broken, fatal: true };
    const outcomes = await Promise.all(leaves.map((leaf) => runLeaf(machine, leaf, options)));
    const conclusions = await concludeAll(machine, outcomes);
    return toStep(machine, conclusions);
  } finally {
    if (machine.commands.isFree) machine.ledger.clear();
    leave();
  }
}

/**
 * A session that cannot be read, because of a slice of another version, fails the run before a leaf acts. Otherwise a
 * worker with such a session would count as failed, and be removed.
 */
function openSessions(machine: LiveMachine, leaves: readonly Instance[]): { readonly error: unknown } | undefined {
  try {
    for (const leaf of leaves) machine.threadOf(leaf).openSession();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** A step without a leaf: a silent message was delivered, a call waits, or the steps are used up. */
export async function emptyStep(machine: LiveMachine, yieldReason: YieldReason): Promise<Omit<MachineStep, 'done'>> {
  const { leftovers, log } = machine;
  if (leftovers.size > 0 || log.items.length > log.told)
    await machine.record((plan) => {
      plan.takeInLeftovers();
      plan.report();
    });
  const { fatal: _fatal, ...step } = toStep(machine, []);
  return { ...step, yieldReason };
}

/** The end of a step is one write: either all of its leaves are concluded or none. */
async function concludeAll(machine: LiveMachine, outcomes: readonly LeafOutcome[]): Promise<readonly Conclusion[]> {
  try {
    assertRecorded(machine, outcomes);
    return await machine.record((plan) => {
      const conclusions = outcomes.map((outcome) => conclude(plan, outcome, machine));
      plan.takeInLeftovers();
      plan.takeOutCeded();
      plan.report();
      return conclusions;
    });
  } catch (error) {
    // The next run continues here, as it would from the records.
    for (const { thread } of outcomes) leaveInFlight(machine, thread);
    throw error;
  }
}

/** If the journal refused a write, the step has no end, and a leaf that it stopped has not failed. */
function assertRecorded({ recorder }: LiveMachine, outcomes: readonly LeafOutcome[]): void {
  for (const { end } of outcomes)
    if (end.kind === 'failed' && end.error instanceof JournalStalled) recorder?.stalled(end.error);
  if (recorder?.refusal !== undefined) throw recorder.refusal.error;
}

function leaveInFlight(machine: LiveMachine, thread: Thread): void {
  thread.dropUnwritten();
  if (thread.logged === thread.transcript.entries.length) return;
  thread.inFlight = true;
  machine.leftovers.add(thread);
}

function conclude(plan: Plan, outcome: LeafOutcome, { charter }: LiveMachine): Conclusion {
  const { leaf, thread, changes } = outcome;
  const conclusion = concludeLeaf(outcome, findInstance(plan.tree, leaf.id));
  const { stop } = conclusion.report;
  const origin = originOf(leaf);
  // For core, a terminal tool has ended the turn even if calls wait; here a waiting transition takes precedence. The
  // thread must say so too, or the answer would arrive in a turn that is over, and the model would be asked before the
  // transition counts.
  if (stop.reason === 'suspended' && isEnded(outcome)) plan.add(thread.id, { kind: 'stop', stop }, origin);
  plan.conclude(thread.id, origin);
  plan.apply(...conclusion.events);
  for (const change of changes)
    if (change.kind === 'moved') cancelOutdatedWaits(plan, charter, change.instanceId, change.node);
  return conclusion;
}

function isEnded({ end }: LeafOutcome): boolean {
  return end.kind === 'turn' && end.result.stop.reason === 'end_turn';
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
