import type { Entry, JournalRecord } from '@lastcall/core';
import { LiveMachine } from '../run/live-machine.ts';
import type { Machine } from '../run/machine.ts';
import type { SessionOptions, Thread, Written } from '../tree/thread.ts';

export interface ContinueOptions {
  /** The option as it was passed to `createMachine`, for the next run. */
  session?: (instanceId: string) => SessionOptions;
}

/**
 * Makes a machine ready for another run, for a host that keeps it between runs: `machineFromRecords` reads all of it, and this only the
 * records that the last run wrote to its journal. It costs the same however many instances only wait. What the conversations of that run
 * were is taken from the records, as they were stored, and their sessions are made again. Returns the same machine, or undefined if the
 * records must be read as a whole, e.g. because the machine was stored whole in them, or the last run was cut off in the middle of a step:
 * then it must not be used any more.
 */
export function continueMachine(
  machine: Machine,
  records: Iterable<JournalRecord>,
  { session = () => ({}) }: ContinueOptions = {},
): Machine | undefined {
  const live = LiveMachine.of(machine);
  if (!isAtRest(live)) return undefined;
  const written = new Map<string, Noted>();
  for (const { entry, staged } of records) {
    const { change } = entry as { readonly change?: { readonly kind?: unknown } };
    if (change?.kind === 'created') return undefined;
    note(written, entry, staged);
    const { machine: more = [] } = (staged ?? {}) as { readonly machine?: readonly Entry[] };
    for (const one of more) note(written, one, undefined);
  }
  const threads: Thread[] = [];
  for (const thread of live.usedThreads) {
    const next = thread.continued(written.get(thread.id) ?? NOTHING);
    // Something is in memory that the records do not have.
    if (next === undefined) return undefined;
    threads.push(next);
    written.delete(thread.id);
  }
  if (written.size > 0) return undefined;
  live.continueWith(threads, session);
  return live;
}

const NOTHING: Written = { entries: [], records: [] };

interface Noted extends Written {
  readonly entries: Entry[];
  readonly records: JournalRecord[];
}

/** Nothing is under way, and the records have everything. */
function isAtRest(live: LiveMachine): boolean {
  return (
    live.isRecorded &&
    live.runs.isFree &&
    live.commands.isFree &&
    live.doubt === undefined &&
    live.recorder === undefined &&
    live.unrecorded.length === 0 &&
    live.underway.size === 0 &&
    live.leftovers.size === 0 &&
    live.log.told === live.log.items.length
  );
}

function note(written: Map<string, Noted>, given: Entry, staged: JournalRecord['staged']): void {
  const { thread, instanceId, node, logged, session, begins, also, ...entry } = given as Entry &
    Readonly<Record<string, unknown>>;
  if (typeof thread !== 'string') return;
  const known = written.get(thread) ?? { entries: [], records: [] };
  written.set(thread, known);
  if (begins === true) known.entries.push({ kind: 'turn' });
  known.entries.push(entry as Entry);
  // As in `machineFromRecords`: a step of a machine resets nothing in a session.
  if (entry.kind === 'settled' || entry.kind === 'pending' || (entry.kind === 'turn' && session !== 'kept'))
    known.records.push({ entry, staged } as JournalRecord);
}
