import type { Stop, TurnResult } from '@lastcall/core';
import type { Instance } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import type { LeafReport, YieldReason } from './machine-step.ts';
import { isCut, type LeafOutcome } from './run-leaf.ts';
import { isTransitionIn } from './transition-in.ts';

/** What the end of a leaf's step means for the tree and for the run. */
export interface Conclusion {
  readonly report: LeafReport;
  readonly events: readonly TreeEvent[];
  readonly response?: string;
  readonly output?: unknown;
  readonly error?: unknown;
  /** True if the run cannot continue by itself. */
  readonly fatal: boolean;
}

/**
 * Decides what the end of a leaf's step means. `now` is the leaf in the tree after its calls; undefined if it is gone.
 */
export function concludeLeaf(outcome: LeafOutcome, now: Instance | undefined): Conclusion {
  const { end } = outcome;
  if (end.kind === 'failed') return failed(outcome, end.error);
  const stop = stopOf(outcome, end.result);
  switch (stop.reason) {
    case 'end_turn':
      return ended(outcome, end.result, stop, phased(now, 'idle'));
    case 'transition':
      return moved(outcome, stop, phased(now, 'ready'));
    case 'suspended':
      return goOn(outcome, stop, 'suspend', phased(now, 'suspended'));
    case 'max_steps':
      return goOn(outcome, stop, 'tool_use', phased(now, 'ready'));
    case 'length':
    case 'content_filter':
      return concludeUnusable(outcome, stop, phased(now, 'idle'));
    default:
      return stopped(outcome, stop, phased(now, stillWaits(now) ? 'suspended' : 'ready'));
  }
}

/**
 * The leaf's next phase. Most leaves keep theirs, and then there is no event. A parent ends the turn of a child that a
 * command removed in the middle of a step: it is asked again when its other children have ceded.
 */
function phased(now: Instance | undefined, wanted: 'ready' | 'idle' | 'suspended'): readonly TreeEvent[] {
  const phase = wanted === 'idle' && now !== undefined && now.children.length > 0 ? 'ready' : wanted;
  if (now === undefined || now.phase.kind === 'ceded' || now.phase.kind === phase) return [];
  return [{ kind: 'phased', id: now.id, phase }];
}

function stillWaits(now: Instance | undefined): boolean {
  return now?.phase.kind === 'suspended' && now.waits.length > 0;
}

/** The stop that core would have reported if it had not been limited to one step. */
function stopOf(outcome: LeafOutcome, { stop, pending }: TurnResult): Stop {
  if (stop.reason === 'max_steps') return stopOfStep(outcome) ?? stop;
  // A transition takes precedence over a terminal tool, also one that waits.
  const isHeld = pending.some(
    ({ callId, toolName }) => isTransitionIn(outcome.tools, toolName) && isOfStep(outcome, callId),
  );
  return stop.reason === 'end_turn' && isHeld ? { reason: 'suspended' } : stop;
}

/** The shorter reply that was asked for was cut off too, or calls were refused because the budget is used up. */
function stopOfStep(outcome: LeafOutcome): Stop | undefined {
  const { spent: dimension, wasCut, thread } = outcome;
  if (wasCut && isCut(thread)) return { reason: 'length' };
  return dimension !== undefined && wasRefusedByBudget(outcome) ? { reason: 'budget', dimension } : undefined;
}

function wasRefusedByBudget({ thread, from }: LeafOutcome): boolean {
  return thread.transcript.entries.slice(from).some((entry) => {
    const outcome = entry.kind === 'settled' ? entry.settlement.outcome : undefined;
    return outcome?.status === 'error' && outcome.code === 'budget';
  });
}

function ended(outcome: LeafOutcome, result: TurnResult, stop: Stop, phase: readonly TreeEvent[]): Conclusion {
  const { leaf } = outcome;
  const { response, output } = result;
  if (leaf.worker) return goOn(outcome, stop, 'cede', [{ kind: 'ceded', id: leaf.id, content: response }]);
  return { ...goOn(outcome, stop, 'end_turn', phase), response, ...(output === undefined ? {} : { output }) };
}

/**
 * The call itself changed the tree. A call that was answered from outside changed nothing; its result is in the thread.
 */
function moved(outcome: LeafOutcome, stop: Stop, phase: readonly TreeEvent[]): Conclusion {
  const kinds = new Set(outcome.changes.map(({ kind }) => kind));
  const changed: YieldReason = kinds.has('moved') || kinds.has('spawned') ? 'transition' : 'tool_use';
  return goOn(outcome, stop, kinds.has('ceded') ? 'cede' : changed, phase);
}

/** Concludes a step whose reply cannot be passed on. */
function concludeUnusable(outcome: LeafOutcome, stop: Stop, phase: readonly TreeEvent[]): Conclusion {
  const { leaf } = outcome;
  if (leaf.worker) return goOn(outcome, stop, 'cede', [failure(leaf, `its reply could not be used (${stop.reason})`)]);
  return { ...goOn(outcome, stop, 'error', phase), fatal: true };
}

/** The host, a deadline or a budget ended the run; the next run continues from here. */
function stopped(outcome: LeafOutcome, stop: Stop, phase: readonly TreeEvent[]): Conclusion {
  return { ...goOn(outcome, stop, 'error', phase), fatal: true };
}

/**
 * A worker that fails is done, and its parent receives the error: it must not hold up the turn. The next run asks a
 * primary again.
 */
function failed(outcome: LeafOutcome, error: unknown): Conclusion {
  const { leaf } = outcome;
  const stop: Stop = { reason: 'error', error };
  if (!leaf.worker) return { ...goOn(outcome, stop, 'error', []), error, fatal: true };
  const message = error instanceof Error ? error.message : String(error);
  return { ...goOn(outcome, stop, 'cede', [failure(leaf, message)]), error };
}

function failure({ id }: Instance, message: string): TreeEvent {
  return { kind: 'ceded', id, content: `It failed: ${message}` };
}

function goOn({ leaf }: LeafOutcome, stop: Stop, yieldReason: YieldReason, events: readonly TreeEvent[]): Conclusion {
  const { id: instanceId, node, worker } = leaf;
  return { report: { instanceId, node, worker, yieldReason, stop }, events, fatal: false };
}

function isOfStep({ thread, from }: LeafOutcome, callId: string): boolean {
  return thread.transcript.entries
    .slice(from)
    .some((entry) => entry.kind === 'pending' && entry.settlement.callId === callId);
}
