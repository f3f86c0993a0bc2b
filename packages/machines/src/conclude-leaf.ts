import type { PendingCall, Stop, TurnResult } from '@lastcall/core';
import type { LeafReport, YieldReason } from './machine-step.ts';
import { toPlainOrNull } from './plain.ts';
import { isCut, type LeafOutcome } from './run-leaf.ts';
import { isTransitionTool } from './tool-names.ts';
import { reasonOf } from './transition-tool.ts';
import type { Instance, Wait } from './tree.ts';
import type { TreeEvent } from './tree-event.ts';

/** What a leaf's end means for the tree and for the run. */
export interface Conclusion {
  readonly report: LeafReport;
  readonly events: readonly TreeEvent[];
  readonly response?: string;
  readonly output?: unknown;
  readonly error?: unknown;
  /** The run cannot go on by itself. */
  readonly fatal: boolean;
}

/** Decides what a leaf's end means. `now` is the leaf in the tree as its calls left it; undefined where it is gone. */
export function concludeLeaf(outcome: LeafOutcome, now: Instance | undefined): Conclusion {
  const { end } = outcome;
  if (end.kind === 'failed') return failed(outcome, end.error);
  const stop = stopOf(outcome, end.result);
  const waits = now === undefined ? [] : waitsOf(outcome, end.result, now);
  switch (stop.reason) {
    case 'end_turn':
      return ended(outcome, end.result, stop, waited(now, 'idle', waits));
    case 'transition':
      return moved(outcome, stop, waited(now, 'ready', waits));
    case 'suspended':
      return goOn(outcome, stop, 'suspend', waited(now, 'suspended', waits));
    case 'max_steps':
      return goOn(outcome, stop, 'tool_use', waited(now, 'ready', waits));
    case 'length':
    case 'content_filter':
      return unsaid(outcome, stop, waited(now, 'idle', waits));
    default:
      return stopped(outcome, stop, waited(now, stillWaits(outcome, waits) ? 'suspended' : 'ready', waits));
  }
}

/** How the leaf waits from now on. Most leaves go on as before, and then nothing is changed. */
function waited(
  now: Instance | undefined,
  phase: 'ready' | 'idle' | 'suspended',
  waits: readonly Wait[],
): readonly TreeEvent[] {
  if (now === undefined || now.phase.kind === 'ceded') return [];
  const same = now.phase.kind === phase && now.waits.length === 0 && waits.length === 0;
  return same ? [] : [{ kind: 'waited', id: now.id, phase, waits }];
}

function stillWaits({ leaf }: LeafOutcome, waits: readonly Wait[]): boolean {
  return leaf.phase.kind === 'suspended' && waits.length > 0;
}

/** The reply that core asked for again, shorter, was cut off too: what core would have said had it gone on itself. */
function stopOf(outcome: LeafOutcome, { stop, pending }: TurnResult): Stop {
  if (stop.reason === 'max_steps' && outcome.wasCut && isCut(outcome.thread)) return { reason: 'length' };
  // A transition outranks a terminal tool, also one that waits.
  const isHeld = pending.some(({ callId, toolName }) => isTransitionTool(toolName) && isOfStep(outcome, callId));
  return stop.reason === 'end_turn' && isHeld ? { reason: 'suspended' } : stop;
}

function ended(outcome: LeafOutcome, result: TurnResult, stop: Stop, waits: readonly TreeEvent[]): Conclusion {
  const { leaf } = outcome;
  const { response, output } = result;
  if (leaf.worker) return goOn(outcome, stop, 'cede', [{ kind: 'ceded', id: leaf.id, content: response }]);
  return { ...goOn(outcome, stop, 'end_turn', waits), response, ...(output === undefined ? {} : { output }) };
}

/** The call itself changed the tree. One that somebody answered changed nothing: its result is there, to be read. */
function moved(
  outcome: LeafOutcome,
  stop: Extract<Stop, { reason: 'transition' }>,
  waits: readonly TreeEvent[],
): Conclusion {
  const ceded = outcome.changes.some(({ kind }) => kind === 'ceded');
  const changed: YieldReason = ceded ? 'cede' : 'transition';
  return goOn(outcome, stop, outcome.answered.includes(stop.callId) ? 'tool_use' : changed, waits);
}

/** Nothing that could be passed on was said. */
function unsaid(outcome: LeafOutcome, stop: Stop, waits: readonly TreeEvent[]): Conclusion {
  const { leaf } = outcome;
  if (leaf.worker) return goOn(outcome, stop, 'cede', [failure(leaf, `its reply could not be used (${stop.reason})`)]);
  return { ...goOn(outcome, stop, 'error', waits), fatal: true };
}

/** By the host, a deadline or a budget: the run is over, and the next one goes on from here. */
function stopped(outcome: LeafOutcome, stop: Stop, waits: readonly TreeEvent[]): Conclusion {
  return { ...goOn(outcome, stop, 'error', waits), fatal: true };
}

/** A worker that fails is done, and its parent hears of it: it must not hold up the turn. A primary is asked again by the next run. */
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

/** The leaf's own calls that wait: others may have waited in the same conversation before. */
function waitsOf(outcome: LeafOutcome, { pending }: TurnResult, { waits }: Instance): readonly Wait[] {
  return pending.flatMap((call): readonly Wait[] => {
    const known = waits.find(({ callId }) => callId === call.callId);
    if (known !== undefined && known.kind === call.kind) return [known];
    return known !== undefined || isOfStep(outcome, call.callId) ? [toWait(outcome, call)] : [];
  });
}

function isOfStep({ thread, from }: LeafOutcome, callId: string): boolean {
  return thread.transcript.entries
    .slice(from)
    .some((entry) => entry.kind === 'pending' && entry.settlement.callId === callId);
}

function toWait({ thread }: LeafOutcome, { callId, toolName, kind, input, expiresAt }: PendingCall): Wait {
  const entry = thread.transcript.entries.findLast((one) => one.kind === 'pending' && one.settlement.callId === callId);
  const display =
    entry?.kind === 'pending' && entry.settlement.outcome.status === 'pending'
      ? entry.settlement.outcome.display
      : undefined;
  const wait = { callId, toolName, kind, input: toPlainOrNull(input), reason: reasonOf(display) };
  return expiresAt === undefined ? wait : { ...wait, expiresAt };
}
