import type { Journal, Staged, ToolSet } from '@lastcall/core';
import type { TreeEntry } from '../tree/log.ts';
import type { Thread } from '../tree/thread.ts';
import type { Instance } from '../tree/tree.ts';
import { changesIn, withoutChanges } from '../tree/view.ts';
import { type LiveMachine, originOf } from './live-machine.ts';
import type { MachineContext } from './machine-context.ts';
import { Plan } from './plan.ts';
import type { Acting, Recorder } from './recorder.ts';
import { isTransitionIn } from './transition-in.ts';
import { waitsAfter } from './wait.ts';

interface LeafWork {
  readonly thread: Thread;
  readonly tools: ToolSet;
  /** What the leaf has changed so far in its step. */
  readonly changes: TreeEntry[];
  readonly machineContext: MachineContext;
}

/**
 * The journal of a leaf's turn. The end of a call and its changes to the tree are recorded together, so that they agree
 * if the machine is stored at any point. What the run's journal is given names the leaf and its conversation.
 */
export function leafJournal(machine: LiveMachine, leaf: Instance, work: LeafWork): Journal {
  const { recorder } = machine;
  return recorder === undefined
    ? { append() {}, settle: (entry, staged) => settle(machine, leaf.id, work, { entry, staged }) }
    : recordingJournal(machine, leaf, work, recorder);
}

interface End {
  readonly entry: Parameters<Journal['settle']>[0];
  readonly staged: Staged;
}

function recordingJournal(machine: LiveMachine, leaf: Instance, work: LeafWork, recorder: Recorder): Journal {
  const acting: Acting = { ...originOf(leaf), thread: work.thread.id };
  return {
    append: (entries) => recorder.append(entries, acting),
    ...(recorder.hasStart ? { start: (entry, call) => recorder.start(entry, call, acting) } : {}),
    settle: (entry, staged) => settle(machine, leaf.id, work, { entry, staged }, { recorder, acting }),
  };
}

function settle(
  machine: LiveMachine,
  by: string,
  { changes, tools, machineContext }: LeafWork,
  { entry, staged }: End,
  recording?: { readonly recorder: Recorder; readonly acting: Acting },
): void | Promise<void> {
  if (entry.kind === 'pending' && isTransitionIn(tools, entry.settlement.toolName)) machineContext.suspended = true;
  const changed = changesIn(staged.events);
  const isPlain = changed.length === 0 && waitsAfter(machine, by, entry).length === 0;
  const done = (): void => {
    machine.ledger.release(by);
    if (changed.length > 0) machine.ledger.commit(by, changed);
  };
  const make = (plan: Plan): void => plan.apply(...changed, ...waitsAfter(machine, by, entry));
  if (recording === undefined) {
    if (!isPlain) {
      const plan = new Plan(machine);
      make(plan);
      plan.carryOut(changes);
    }
    done();
    return undefined;
  }
  const { recorder, acting } = recording;
  const end = { entry, staged: withoutChanges(staged), acting };
  // A plain end does not overtake one that waits for its turn: a journal keeps the ends in the order in which they came.
  const writing =
    isPlain && machine.writes.isFree
      ? recorder.settle(end.entry, end.staged, acting)
      : recorder.settleWith(end, make, changes);
  if (writing !== undefined) return writing.then(done);
  done();
  return undefined;
}
