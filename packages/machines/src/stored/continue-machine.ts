import type { Entry, JournalRecord } from '@lastcall/core';
import { LiveMachine } from '../run/live-machine.ts';
import type { Machine } from '../run/machine.ts';
import type { SessionOptions, Thread } from '../tree/thread.ts';

export interface ContinueOptions {
  /** The option as it was passed to `createMachine`, for the next run. */
  session?: (instanceId: string) => SessionOptions;
}

/**
 * The same machine for another run, for a host that keeps a machine between runs: `machineFromRecords` reads all of it, and this only the
 * records that the last run wrote to its journal. What the conversations of that run were is taken from the records, as they were stored.
 * The given machine must not be used any more. Returns undefined if the records must be read as a whole, e.g. because the machine was
 * stored whole in them, or the last run was cut off in the middle of a step.
 */
export function continueMachine(
  machine: Machine,
  records: Iterable<JournalRecord>,
  { session = () => ({}) }: ContinueOptions = {},
): Machine | undefined {
  const live = LiveMachine.of(machine);
  if (!isAtRest(live)) return undefined;
  const written = new Map<string, Written>();
  for (const { entry, staged } of records) {
    const { change } = entry as { readonly change?: { readonly kind?: unknown } };
    if (change?.kind === 'created') return undefined;
    note(written, entry, staged);
    const { machine: more = [] } = (staged ?? {}) as { readonly machine?: readonly Entry[] };
    for (const one of more) note(written, one, undefined);
  }
  const threads = new Map<string, Thread>();
  for (const [id, thread] of live.threads) {
    const next = thread.continued(written.get(id) ?? NOTHING, () => session(id));
    // Something is in memory that the records do not have.
    if (next === undefined) return undefined;
    threads.set(id, next);
  }
  for (const id of written.keys()) if (!threads.has(id)) return undefined;
  const { charter, tree, log, knownSuspended: suspended } = live;
  return new LiveMachine({ charter, tree, log, threads, suspended, sessionOptions: session, isRecorded: true });
}

/** What the records have of a conversation. */
interface Written {
  readonly entries: Entry[];
  /** What its session follows. */
  readonly records: JournalRecord[];
}

const NOTHING: Written = { entries: [], records: [] };

/** Nothing is under way, and the records have everything. */
function isAtRest(live: LiveMachine): boolean {
  return (
    live.isRecorded &&
    live.doubt === undefined &&
    live.recorder === undefined &&
    live.unrecorded.length === 0 &&
    live.underway.size === 0 &&
    live.leftovers.size === 0 &&
    live.log.told === live.log.items.length
  );
}

function note(written: Map<string, Written>, given: Entry, staged: JournalRecord['staged']): void {
  const { thread, instanceId, node, logged, session, ...entry } = given as Entry & Readonly<Record<string, unknown>>;
  if (typeof thread !== 'string') return;
  const known = written.get(thread) ?? { entries: [], records: [] };
  written.set(thread, known);
  known.entries.push(entry as Entry);
  // As in `machineFromRecords`: a step of a machine resets nothing in a session.
  if (entry.kind === 'settled' || entry.kind === 'pending' || (entry.kind === 'turn' && session !== 'kept'))
    known.records.push({ entry, staged } as JournalRecord);
}
