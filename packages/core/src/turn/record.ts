import { readArguments } from '../dispatch/read-arguments.ts';
import { JournalStalled } from '../errors.ts';
import { isPromise } from '../is-promise.ts';
import { endEvent } from '../results/call-events.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import { logEnd, stageLogs, tellSubscribers } from '../session/call-ends.ts';
import { settlesWithin } from '../settles-within.ts';
import type { Entry, PendingEntry, SettledEntry, StartedEntry } from '../transcript/entry.ts';
import type { Staged, StartedCall } from '../transcript/journal.ts';
import type { Turn } from './turn.ts';

/**
 * Records what happened: first in the journal, then in memory. Only a promise is awaited, whatever else a journal
 * returns.
 */
export function record(turn: Turn, ...entries: readonly Entry[]): void | Promise<void> {
  const written = turn.options.journal?.append(entries);
  if (!isPromise(written)) return appendEntries(turn, entries);
  const what = `"${entries.map(({ kind }) => kind).join('", "')}"`;
  return writtenInTime(turn, written, what).then(() => appendEntries(turn, entries));
}

/** Records that a call starts, before its tool runs. */
export function recordStarted(turn: Turn, entry: StartedEntry, call: StartedCall): void | Promise<void> {
  const { journal } = turn.options;
  if (journal?.start === undefined) return record(turn, entry);
  const written = journal.start(entry, call);
  if (!isPromise(written)) return appendEntries(turn, [entry]);
  const what = `the start of "${call.toolName}" (call ${entry.callId})`;
  return writtenInTime(turn, written, what).then(() => appendEntries(turn, [entry]));
}

/** Records the end of a call with its changes: both or neither. */
export function recordSettled(turn: Turn, entry: SettledEntry | PendingEntry, staged: Staged): void | Promise<void> {
  const written = turn.options.journal?.settle(entry, staged);
  if (!isPromise(written)) return appendEntries(turn, [entry]);
  const { callId, toolName } = entry.settlement;
  return writtenInTime(turn, written, `the end of "${toolName}" (call ${callId})`).then(() =>
    appendEntries(turn, [entry]),
  );
}

/** Settles a call that did not run. */
export async function settleUnrun(
  turn: Turn,
  call: { callId: string; toolName: string; input: unknown },
  outcome: Outcome,
  how: Pick<SettledEntry, 'late' | 'answer'> = {},
): Promise<Settlement> {
  const now = turn.clock.now();
  const { callId, toolName } = call;
  const read = readArguments(call.input);
  // Calls that ran have parsed input in their settlements, so those that did not run get it too.
  const input = 'value' in read ? read.value : call.input;
  const settlement: Settlement = { callId, toolName, input, outcome, startedAt: now, endedAt: now };
  logEnd(turn.session, settlement);
  const slices = stageLogs(turn.session);
  const staged: Staged = slices === undefined ? { events: [] } : { events: [], slices };
  await recordSettled(turn, { kind: 'settled', settlement, ...how }, staged);
  turn.emit?.(endEvent(settlement));
  tellSubscribers(turn.session, settlement);
  return settlement;
}

function appendEntries(turn: Turn, entries: readonly Entry[]): void {
  for (const entry of entries) turn.transcript.push(entry);
}

// A normal write that is in progress when the deadline passes, or that records what the deadline ended, needs a moment:
// without it most turns with a deadline would end in doubt. This is far above what such a write takes.
const GRACE_MS = 1_000;

/**
 * Waits for a write to the journal until the turn's deadline or an abort, and a moment longer. Then rejects with
 * JournalStalled, because it is not known whether the data was written: neither continuing nor undoing would be right.
 */
async function writtenInTime(turn: Turn, writing: PromiseLike<unknown>, what: string): Promise<void> {
  const { limit, clock, deadline } = turn;
  const work = Promise.resolve(writing);
  if (!limit.isHit(await limit.race(work))) return;
  // The journal may use all of the time that is reserved for the last answer.
  const left = limit.hit?.code === 'timeout' && deadline !== undefined ? deadline - clock.now() : 0;
  if (!(await settlesWithin(clock, Math.max(GRACE_MS, left), work))) throw new JournalStalled(what);
}
