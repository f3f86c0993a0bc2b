import type { Entry } from '@lastcall/core';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { toldPlace } from '../../domain/inbox/inbox-place.ts';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import type { EventRow } from '../../domain/inbox/waiting-events.ts';
import { newId } from '../../domain/new-id.ts';
import { runStream, spaceStream } from '../../domain/streams/stream-names.ts';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { toEntryPayload } from '../../domain/transcript/transcript-row.ts';
import { insertRow } from '../../ports/store/insert-row.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { RunRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { appendRows, type RowPosition } from '../journal/append-rows.ts';
import type { HeldThread, Lease } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { Registry } from '../toolset/registry.ts';
import { answersOf, readMachineInput } from './machine-input.ts';
import { personOf } from './person-of.ts';
import { readDecisions } from './read-decisions.ts';
import type { ThreadRows } from './read-thread.ts';
import { settleFromEvents } from './settle-from-events.ts';
import { type ActiveRunInputs, toActiveRun } from './to-active-run.ts';
import { findWakingSpaces, type WakingSpace, wakeIn } from './waking-space.ts';

interface NewRunInputs extends ActiveRunInputs, Pick<Registry, 'metrics'>, Pick<ThreadRows, 'events' | 'last'> {}

/** Starts a run for waiting events: claims them and writes the text that the model will read. */
export async function startRun({ metrics, events, last, ...given }: NewRunInputs): Promise<ActiveRun> {
  const { held, agent, past, kind, request } = given;
  const { tx, lease } = held;
  const waking = kind.hasSpaces ? await wake(tx, given, events) : undefined;
  const row = waking === undefined ? given.row : { ...given.row, active_space_id: waking.spaceId };
  const inputs = { ...given, row };
  const { nextSeq } = past;
  const waiting = events.map(toWaitingEvent);
  const entityId = await personOf(tx, waiting);
  const { fork } = given;
  // The first run of a fork has the number of the original, by which the model knows its calls.
  const number = last === undefined && fork !== undefined ? fork.number : (last?.number ?? 0) + 1;
  const run = toRun({ lease, row, events, nextSeq, number, now: tx.now(), kind, request, entityId, fork });
  tx.afterCommit(() => {
    for (const { at } of waiting) metrics?.inboxLag((run.created_at - at) / 1_000);
  });
  const isMachine = agent.setup.definition?.machine !== undefined;
  const settled = isMachine ? [] : await settleFromEvents(tx, waiting);
  // No instance of a machine has read what the agent was told before it became one.
  const told = isMachine || !kind.hasSpaces ? undefined : toldPlace(past.transcript.entries);
  const opening = { run, transcript: past.transcript, told, settled, you: row.name };
  const entries = isMachine ? [await readMachineInput(tx, kind, waiting, opening)] : kind.entriesOf(waiting, opening);
  const place = { runId: run.id, seq: nextSeq };
  const beginsTurn = entries.some(
    ({ kind: entry, ...one }) => entry === 'turn' || ('messages' in one && hasAny(one.messages)),
  );
  tx.send(insertRun, beginsTurn ? run : { ...run, turn_id: await continuedTurn(tx, run, last) });
  for (const { id } of events) tx.send(claimEvent, { id, runId: run.id });
  const written = insertEntries(held, place, entries);
  tx.emit({ stream: runStream(run.id), type: 'run.start', payload: { runId: run.id, agentId: agent.id } });
  if (run.active_in !== null) {
    const payload = { runId: run.id, entityId: agent.entityId };
    tx.emit({ stream: spaceStream(run.active_in), type: 'agent.active', payload });
  }
  const answers = isMachine ? answersOf(entries) : await readDecisions(tx, waiting);
  const earlierEntries = past.transcript.entries.length;
  return toActiveRun(inputs, { run, entries, written, answers, waking, isTakenOver: false, earlierEntries });
}

/** The space in which the run begins. Undefined if the events have none that the agent is still in: then the active space stays as it is. */
async function wake(
  tx: Tx,
  { agent, row }: Pick<ActiveRunInputs, 'agent' | 'row'>,
  events: ThreadRows['events'],
): Promise<WakingSpace | undefined> {
  for (const waking of await findWakingSpaces(tx, events))
    if (waking.spaceId === row.active_space_id || (await wakeIn(tx, agent, waking.spaceId))) return waking;
  return undefined;
}

function hasAny(messages: unknown): boolean {
  return Array.isArray(messages) && messages.length > 0;
}

/** A run that begins no turn continues the newest one. A run that was not saved is no part of the conversation. */
async function continuedTurn(tx: Tx, run: RunRow, last: ThreadRows['last']): Promise<string> {
  if (last === undefined) return run.id;
  if (last.answer === null) return last.turn_id;
  const saved = await tx.db
    .selectFrom('runs')
    .select('turn_id')
    .where('thread_id', '=', run.thread_id)
    .where('answer', 'is', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return saved?.turn_id ?? run.id;
}

const insertRun = insertRow('runs', {
  numbers: [
    'number',
    'epoch',
    'config_version',
    'attempts',
    'taken_seq',
    'attempt',
    'cancel_requested_at',
    'created_at',
    'ended_at',
  ],
});

const claimEvent = statement(
  (db, { id, runId }: Params<{ id: number; runId: string }>) =>
    db
      .updateTable('inbox_events')
      .set((eb) => ({ status: 'claimed' as const, run_id: runId, attempts: eb('attempts', '+', 1) }))
      .where('id', '=', id),
  { types: { id: 'bigint', runId: 'text' }, key: 'id' },
);

interface NewRun extends Pick<ActiveRunInputs, 'row' | 'kind' | 'request' | 'fork'>, Pick<ThreadRows, 'events'> {
  readonly lease: Lease;
  readonly nextSeq: number;
  readonly number: number;
  readonly now: number;
  readonly entityId: string | null;
}

function toRun({ lease, row, events, nextSeq, number, now, kind, request, entityId, fork }: NewRun): RunRow {
  const { runId = newId(now), settings } = request;
  return {
    id: runId,
    thread_id: lease.threadId,
    turn_id: runId,
    trigger: toJson(events.map(({ event_id, type }) => ({ eventId: event_id, type }))),
    status: 'running',
    stop: null,
    number: number,
    usage: null,
    epoch: lease.epoch,
    config_version: fork?.configVersion ?? row.config_version,
    attempts: 0,
    taken_seq: nextSeq,
    owner: row.lease_owner,
    attempt: 1 + Math.max(0, ...events.map(({ attempts }) => attempts)),
    retry_of: failedRun(events),
    takeovers: null,
    cancel_requested_at: null,
    active_in: kind.hasSpaces ? row.active_space_id : null,
    created_at: now,
    ended_at: null,
    mode: fork?.runId === runId ? fork.mode : null,
    settings: settings === undefined ? null : toJson(settings),
    answer: null,
    entity_id: entityId,
  };
}

/** The run that tried the events before, also if they were redriven since. */
function failedRun(events: ThreadRows['events']): string | null {
  const retried = events.find(({ run_id, attempts }) => run_id !== null && attempts > 0);
  return retried?.run_id ?? events.find(({ redriven_from }) => redriven_from !== null)?.redriven_from ?? null;
}

function toWaitingEvent({ event_id, type, created_at, attempts, run_id, payload }: EventRow): WaitingEvent {
  // An answer and a request of a conversation have the id of the run that they were promised. See also hold-run.ts.
  const isShownBefore = attempts === 0 && run_id !== null && type !== 'tool_result' && type !== 'chat';
  const event = fromJson<InboxEvent>(payload);
  return { eventId: event_id, at: created_at, attempt: attempts + 1, isShownBefore, event };
}

/** Appends entries to a thread's transcript outside of a turn, and returns the rows. */
function insertEntries(held: HeldThread, place: RowPosition, entries: readonly Entry[]): readonly TranscriptRow[] {
  return appendRows(
    held,
    place,
    entries.map((entry) => ({ kind: entry.kind, payload: toEntryPayload({ entry }) })),
  );
}
