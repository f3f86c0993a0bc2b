import type { Entry } from '@lastcall/core';

export type ReplyEntry = Extract<Entry, { kind: 'reply' }>;

export interface SplitRuns {
  readonly older: readonly Entry[];
  readonly newest: readonly Entry[];
}

/** Splits the entries at the last `turn`, where the newest run starts. */
export function splitBeforeNewest(entries: readonly Entry[]): SplitRuns {
  const begin = Math.max(
    0,
    entries.findLastIndex(({ kind }) => kind === 'turn'),
  );
  return { older: entries.slice(0, begin), newest: entries.slice(begin) };
}

/**
 * Moves the first step of the newest run to the older ones. Returns undefined if nothing more can be moved: a step
 * whose calls have no end yet still runs.
 */
export function splitAfterFirstStep({ older, newest }: SplitRuns): SplitRuns | undefined {
  const body = newest.findIndex(({ kind }) => kind !== 'turn');
  const next = newest.findIndex(({ kind }, index) => index > body && kind === 'reply');
  const end = next === -1 ? newest.length : next;
  const step = newest.slice(0, end);
  const isEmpty = step.every(({ kind }) => kind === 'turn' || kind === 'stop');
  if (isEmpty || hasOpenCall(step)) return undefined;
  // Keeps the entry that says how the run ended.
  const last = newest.at(-1);
  const stop = next === -1 && last?.kind === 'stop' ? [last] : [];
  return { older: [...older, ...step], newest: [{ kind: 'turn' }, ...stop, ...newest.slice(end)] };
}

function hasOpenCall(step: readonly Entry[]): boolean {
  const open = new Set<string>();
  for (const entry of step) {
    if (entry.kind === 'reply')
      for (const { callId, provided } of entry.calls) if (provided === undefined) open.add(callId);
    if (entry.kind === 'settled' || entry.kind === 'pending') open.delete(entry.settlement.callId);
  }
  return open.size > 0;
}

/**
 * What core needs of the older runs to settle their waiting calls later: their replies, reduced to these calls, and
 * the entries of the wait.
 */
export function waitingCalls({ older, newest }: SplitRuns): readonly Entry[] {
  const waits = waitsAfter(older);
  // The newest run itself contains the answers to these.
  for (const entry of newest)
    if (entry.kind === 'settled' && entry.late === true) waits.delete(entry.settlement.callId);
  return older.flatMap((entry) => (entry.kind === 'reply' ? reduceReply(entry, waits) : []));
}

/**
 * Removes the starts of calls that are no longer carried over: a call of an older run that was approved and ended in
 * this one. A transcript that starts a call without a reply is refused when it is read.
 */
export function withoutForeignStarts(newest: readonly Entry[], carried: ReadonlySet<string>): readonly Entry[] {
  const asked = new Set(carried);
  for (const entry of newest) if (entry.kind === 'reply') for (const { callId } of entry.calls) asked.add(callId);
  return newest.filter((entry) => entry.kind !== 'started' || asked.has(entry.callId));
}

/** The entries of each waiting call, by call id. */
function waitsAfter(entries: readonly Entry[]): Map<string, Entry[]> {
  const waits = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.kind === 'settled') waits.delete(entry.settlement.callId);
    if (entry.kind === 'started') waits.get(entry.callId)?.push(entry);
    if (entry.kind !== 'pending') continue;
    const { callId } = entry.settlement;
    waits.set(callId, [...(waits.get(callId) ?? []), entry]);
  }
  return waits;
}

function reduceReply(reply: ReplyEntry, waits: ReadonlyMap<string, readonly Entry[]>): readonly Entry[] {
  const calls = reply.calls.filter(({ callId }) => waits.has(callId));
  if (calls.length === 0) return [];
  const content = reply.content.filter((part) => part.type === 'tool-call' && waits.has(part.toolCallId));
  return [{ ...reply, content, calls, text: '' }, ...calls.flatMap(({ callId }) => waits.get(callId) ?? [])];
}

/**
 * Removes what a rewind took out of the view, to make a run smaller. The view stays the same, but the run can no
 * longer be rewound.
 */
export function withoutRewound(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some(({ kind }) => kind === 'rewind')) return entries;
  const kept: Entry[] = [];
  let mark = 0;
  for (const entry of entries) {
    if (entry.kind === 'checkpoint') mark = kept.length;
    else if (entry.kind === 'rewind') kept.push(...endsOfOthers(kept.splice(mark)), userMessage(entry.text));
    else if (entry.kind !== 'compensating') kept.push(entry);
  }
  return kept;
}

/** Keeps the ends and waits of calls that were requested before the removed entries. */
function endsOfOthers(gone: readonly Entry[]): readonly Entry[] {
  const asked = new Set(
    gone.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [])),
  );
  return gone.filter((entry) => {
    if (entry.kind === 'settled' || entry.kind === 'pending') return !asked.has(entry.settlement.callId);
    return entry.kind === 'started' && !asked.has(entry.callId);
  });
}

export function userMessage(text: string): Entry {
  return { kind: 'message', message: { role: 'user', content: [{ type: 'text', text }] } };
}
