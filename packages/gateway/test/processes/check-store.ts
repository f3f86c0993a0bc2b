import type { Entry } from '@lastcall/core';
import { Transcript } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { loadTranscript } from '../../src/domain/transcript/load-transcript.ts';
import { COMPACTION, fromEntryPayload } from '../../src/domain/transcript/transcript-row.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';

type Db = Kysely<Tables>;

/** The problems in the rows of a store at rest: each event must be processed once, each call settled once, and nothing left open. */
export async function problemsOfStore(db: Db, among: Gateways = NONE_DIED): Promise<string[]> {
  return [
    ...(await problemsOfInbox(db)),
    ...(await problemsOfRuns(db, among)),
    ...(await problemsOfCalls(db)),
    ...(await problemsOfMessages(db)),
    ...(await problemsOfMinds(db)),
  ];
}

export async function problemsOfInbox(db: Db): Promise<string[]> {
  const events = await db.selectFrom('inbox_events').selectAll().execute();
  const runs = await db.selectFrom('runs').select(['thread_id', 'trigger', 'status']).execute();
  const processed = new Map<string, number>();
  for (const { thread_id, trigger, status } of runs) {
    if (status === 'failed') continue;
    for (const { eventId } of fromJson<{ eventId: string }[]>(trigger)) {
      const key = `${thread_id} ${eventId}`;
      processed.set(key, (processed.get(key) ?? 0) + 1);
    }
  }
  return events.flatMap(({ thread_id, event_id, status, error }) => {
    if (status === 'withheld') return [];
    const times = processed.get(`${thread_id} ${event_id}`) ?? 0;
    const isDone = status === 'done' && times === 1;
    return isDone
      ? []
      : [`Event ${event_id} of ${thread_id} is ${status} and was processed ${times} times. ${error ?? ''}`];
  });
}

interface Gateways {
  /** True if the holder of a thread was killed. */
  readonly isDead: (owner: string) => boolean;
}

const NONE_DIED: Gateways = { isDead: () => false };

/**
 * A run that failed, or after which the transcript is compacted, is stored as ended first, and its thread is released afterwards. If the
 * process is killed in between, the lease runs out, and the next request claims the thread.
 */
export async function problemsOfRuns(db: Db, { isDead }: Gateways = NONE_DIED): Promise<string[]> {
  const runs = await db.selectFrom('runs').selectAll().execute();
  const threads = await db.selectFrom('threads').selectAll().where('lease_owner', 'is not', null).execute();
  return [
    ...runs
      .filter(({ status, ended_at, active_in }) => status === 'running' || ended_at === null || active_in !== null)
      .map(({ id, status, active_in }) => `Run ${id} is ${status}, and active in ${active_in}.`),
    ...threads
      .filter(({ id, lease_owner }) => !hasFailedLast(runs, id) && !isDead(lease_owner ?? ''))
      .map(({ id, lease_owner }) => `Thread ${id} is held by ${lease_owner}.`),
  ];
}

function hasFailedLast(
  runs: readonly { thread_id: string; number: number; status: string }[],
  threadId: string,
): boolean {
  const own = runs.filter(({ thread_id }) => thread_id === threadId);
  return own.toSorted((one, other) => one.number - other.number).at(-1)?.status === 'failed';
}

export async function problemsOfCalls(db: Db): Promise<string[]> {
  const calls = await db.selectFrom('calls').selectAll().where('during_call', 'is', null).execute();
  const pending = await db.selectFrom('calls').select('id').where('wait_status', '=', 'pending').execute();
  const rows = await db.selectFrom('transcript_entries').selectAll().orderBy('seq').execute();
  const entries = rows.filter(({ kind }) => kind !== COMPACTION).map(({ payload }) => fromEntryPayload(payload).entry);
  const asked = entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : []));
  const ends = Map.groupBy(entries.filter(isEnd), ({ settlement }) => settlement.callId);
  const known = new Set(calls.map(({ id }) => id));
  return [
    ...calls.flatMap(({ id, tool_name, status, outcome }) => {
      const [end, ...more] = ends.get(id) ?? [];
      const isOne = status === 'settled' && end !== undefined && more.length === 0;
      const isSame = fromJson<{ status: string }>(outcome ?? 'null')?.status === end?.settlement.outcome.status;
      const written = (ends.get(id) ?? []).map(({ settlement }) => settlement.outcome.status);
      return isOne && isSame ? [] : [`Call ${id} (${tool_name}) is ${status} as ${outcome}, and ended ${written}.`];
    }),
    ...[...ends.keys()].filter((id) => !known.has(id)).map((id) => `${id} ended and was never a call.`),
    ...asked.filter((id) => !known.has(id)).map((id) => `${id} was asked for and is no call.`),
    ...(new Set(asked).size === asked.length ? [] : ['A call was asked for twice.']),
    ...pending.map(({ id }) => `Call ${id} still waits for an answer.`),
  ];
}

function isEnd(entry: Entry): entry is Extract<Entry, { kind: 'settled' }> {
  return entry.kind === 'settled';
}

export async function problemsOfMessages(db: Db): Promise<string[]> {
  const spaces = await db.selectFrom('spaces').select(['id', 'next_seq']).execute();
  const messages = await db.selectFrom('messages').selectAll().orderBy('seq').execute();
  return [
    ...spaces.flatMap(({ id, next_seq }) => {
      const numbers = messages.filter(({ space_id }) => space_id === id).map(({ seq }) => seq);
      const endPersisted = numbers.length === next_seq - 1 && numbers.every((seq, index) => seq === index + 1);
      return endPersisted ? [] : [`Messages of ${id} are numbered ${numbers}, and the next is ${next_seq}.`];
    }),
    ...messages
      .filter(({ status }) => status === 'running' || status === 'requires_action')
      .map(({ id, status }) => `The card ${id} is ${status}.`),
  ];
}

/** Checks the next request to each model: each call must be followed directly by exactly one result. */
async function problemsOfMinds(db: Db): Promise<string[]> {
  const agents = await db.selectFrom('agents').select(['id', 'name']).execute();
  const problems: string[] = [];
  for (const { id, name } of agents) {
    const awaited = new Set<string>();
    for (const { role, content } of new Transcript((await loadTranscript(db, id)).entries).view()) {
      if (role !== 'tool' && awaited.size > 0) problems.push(`${name}: no result of ${[...awaited]} where it belongs.`);
      if (role !== 'tool') awaited.clear();
      for (const part of typeof content === 'string' ? [] : content) {
        if (part.type === 'tool-call') awaited.add(part.toolCallId);
        if (part.type === 'tool-result' && !awaited.delete(part.toolCallId))
          problems.push(`${name}: ${part.toolCallId} has a result where none belongs.`);
      }
    }
    if (awaited.size > 0) problems.push(`${name}: the last calls have no results.`);
  }
  return problems;
}
