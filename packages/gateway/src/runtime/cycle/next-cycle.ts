import { type Entry, Transcript } from '@lastcall/core';
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { renderInbox, type WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { newId } from '../../domain/new-id.ts';
import { emit, runChannel, spaceChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { insertRow } from '../../ports/store/insert-row.ts';
import { fromJson, toJson } from '../../ports/store/json.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { RunRow } from '../../ports/store/tables.ts';
import { type Claimant, claimThread, fenced, type HeldThread, type Lease, regainThread, release } from '../lease.ts';
import { answersOf } from './answers-of.ts';
import type { SessionState } from './compact-consciousness.ts';
import type { ConfiguredAgent, Cycle } from './cycle.ts';
import { endAsFailed } from './fail-run.ts';
import { insertEntries, toPrepared } from './insert-entries.ts';
import { readAgent } from './read-agent.ts';
import {
  type EventRow,
  FIRST_LOOK,
  loadContext,
  readThread,
  type ThreadContext,
  type ThreadedAgent,
  type ThreadRows,
  waitingEvents,
} from './read-thread.ts';
import type { Registry } from './registry.ts';
import { settledByEvents } from './settled-by-events.ts';
import type { TranscriptCache } from './transcript-cache.ts';

/** A thread that was free, and is held now; with what there is to think. */
export interface Taken {
  readonly lease: Lease;
  readonly cycle: Cycle;
}

/**
 * Takes a thread and what it is to think next, in one transaction. Undefined: somebody else holds it, or there is nothing to do; then
 * it is as free as it was.
 */
export async function takeThread(
  services: Services,
  registry: Registry,
  threadId: string,
  { owner, isUrgent, transcriptCache }: { owner: string; isUrgent: boolean; transcriptCache: TranscriptCache },
): Promise<Taken | undefined> {
  const claimant = { owner, leaseMs: services.limits.leaseMs };
  const take = async (tx: Tx): Promise<Taken | undefined> => {
    const held = await claimThread(tx, threadId, claimant);
    if (held === undefined) return undefined;
    const { lease } = held;
    // Who is woken has something to do, as a rule: what that takes is asked for along with whether it is so.
    const [found, context] = await pipeline(
      readThread(held),
      loadContext(held, transcriptCache.of(lease, { isNew: true })),
    );
    const cycle = await next(services, held, registry, { found, recall: async () => context });
    if (cycle !== undefined) return { lease, cycle };
    release(tx, lease);
    tx.afterCommit(() => transcriptCache.renew(lease));
    return undefined;
  };
  return await orForget(transcriptCache, threadId, () => services.store.transaction(take, { isUrgent }));
}

/** Where it is not known what was written, what was in mind is not known either. */
async function orForget<T>(transcriptCache: TranscriptCache, threadId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    transcriptCache.forget(threadId);
    throw error;
  }
}

/**
 * What the holder of a thread is to think next: the run that a dead worker left, or a new one upon what waits in the inbox.
 * Undefined: nothing, and the thread is let go. A new run, the events it takes and what the model will read of them are written in
 * one transaction, so that whoever dies after it leaves a run to be taken up, and whoever dies before it leaves events that wait.
 * `regain`: it is not known whether the thread was let go.
 */
export async function nextCycle(
  services: Services,
  registry: Registry,
  lease: Lease,
  { transcriptCache, regain }: { transcriptCache: TranscriptCache; regain?: Claimant | undefined },
): Promise<Cycle | undefined> {
  const known = transcriptCache.of(lease, { isNew: false });
  const take = async (tx: Tx, held: HeldThread): Promise<Cycle | undefined> => {
    if (regain !== undefined) await regainThread(tx, lease, regain);
    const cycle = await next(services, held, registry, {
      found: await readThread(held),
      recall: () => loadContext(held, known),
    });
    // In the transaction that found nothing: an event that is written meanwhile wakes somebody who then finds the thread free.
    if (cycle === undefined) release(tx, lease);
    return cycle;
  };
  return await orForget(transcriptCache, lease.threadId, () => fenced(services.store, lease, take));
}

interface Next {
  readonly found: ThreadRows;
  /** Called where there is something to do. */
  readonly recall: () => Promise<ThreadContext>;
}

async function next(
  services: Services,
  held: HeldThread,
  { agentLimits, metrics }: Registry,
  { found: { row, open, events, lastCycle }, recall }: Next,
): Promise<Cycle | undefined> {
  if (row === undefined) return undefined;
  const agent = readAgent(row, agentLimits);
  const isResting = row.status !== 'active' || events.length === 0;
  if (open === undefined && isResting) return undefined;
  const taking = { held, agent, row, context: await recall() };
  if (open !== undefined) return await takeOver(services, { ...taking, open });
  const most = agent.limits.eventsPerCycle;
  const isAll = events.length < FIRST_LOOK || most <= FIRST_LOOK;
  const taken = isAll ? events.slice(0, most) : await waitingEvents(held.tx, agent.id, most);
  return await begin(services, { ...taking, metrics, events: taken, lastCycle });
}

interface Taking {
  readonly held: HeldThread;
  readonly agent: ConfiguredAgent;
  readonly row: ThreadedAgent;
  readonly context: ThreadContext;
}

/** A run that several workers died of, one after the other and without getting on, would kill the next one too. */
const MOST_TAKEOVERS = 20;

async function takeOver(
  services: Services,
  { held, agent, row, context, open }: Taking & { open: RunRow },
): Promise<Cycle | undefined> {
  const { tx, lease } = held;
  const { consciousness } = context;
  const events = await eventsOf(tx, open.id);
  const attempts = consciousness.nextSeq > open.taken_seq ? 1 : open.attempts + 1;
  await tx.db
    .updateTable('runs')
    .set({ epoch: lease.epoch, attempts, taken_seq: consciousness.nextSeq })
    .where('id', '=', open.id)
    .execute();
  const cycle = toCycle(
    { held, agent, row, context },
    {
      run: open,
      entries: [],
      written: [],
      answers: await answersOf(tx, events),
      isTakenOver: true,
    },
  );
  if (attempts <= MOST_TAKEOVERS) return cycle;
  const message = `${MOST_TAKEOVERS} workers died of this run without getting on.`;
  await endAsFailed(services, held, cycle, { message, retry: false });
  return undefined;
}

interface Beginning extends Taking, Pick<Registry, 'metrics'>, Pick<ThreadRows, 'events' | 'lastCycle'> {}

async function begin(
  services: Services,
  { held, agent, row, context, metrics, events, lastCycle }: Beginning,
): Promise<Cycle> {
  const { tx, lease } = held;
  const { consciousness } = context;
  const run = toRun({ lease, row, events, nextSeq: consciousness.nextSeq, number: lastCycle + 1, now: tx.now() });
  const waiting = events.map(toWaiting);
  tx.afterCommit(() => {
    for (const { at } of waiting) metrics?.inboxLag((run.created_at - at) / 1_000);
  });
  const text = renderInbox(waiting, { cycle: run.cycle_no, tag: agent.tag, now: run.created_at });
  const entries: Entry[] = [
    ...(await settledByEvents(tx, waiting)),
    { kind: 'turn' },
    { kind: 'message', message: { role: 'user', content: [{ type: 'text', text }] } },
  ];
  const place = { runId: run.id, seq: consciousness.nextSeq };
  tx.send(insertRun, run);
  for (const { id } of events) tx.send(claimEvent, { id, runId: run.id });
  const written = insertEntries(
    held,
    place,
    entries.map((entry) => toPrepared({ entry })),
  );
  emit(services, tx, { channel: runChannel(run.id), type: 'run.start', payload: { runId: run.id, agentId: agent.id } });
  if (run.active_in !== null) {
    const payload = { runId: run.id, entityId: agent.entityId };
    emit(services, tx, { channel: spaceChannel(run.active_in), type: 'agent.active', payload });
  }
  const answers = await answersOf(tx, events);
  return toCycle({ held, agent, row, context }, { run, entries, written, answers, isTakenOver: false });
}

const insertRun = insertRow('runs');

const claimEvent = statement((db, { id, runId }: Params<{ id: number; runId: string }>) =>
  db
    .updateTable('inbox_events')
    .set((eb) => ({ status: 'claimed' as const, run_id: runId, attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id),
);

interface NewRun extends Pick<Taking, 'row'>, Pick<ThreadRows, 'events'> {
  readonly lease: Lease;
  readonly nextSeq: number;
  readonly number: number;
  readonly now: number;
}

function toRun({ lease, row, events, nextSeq, number, now }: NewRun): RunRow {
  return {
    id: newId(now),
    thread_id: lease.threadId,
    trigger: toJson(events.map(({ event_id, type }) => ({ eventId: event_id, type }))),
    status: 'running',
    stop: null,
    cycle_no: number,
    usage: null,
    epoch: lease.epoch,
    config_version: row.config_version,
    attempts: 1,
    taken_seq: nextSeq,
    cancel_requested_at: null,
    active_in: row.active_space_id,
    created_at: now,
    ended_at: null,
  };
}

async function eventsOf(tx: Tx, runId: string): Promise<EventRow[]> {
  return await tx.db.selectFrom('inbox_events').selectAll().where('run_id', '=', runId).execute();
}

function toWaiting({ event_id, created_at, attempts, payload }: EventRow): WaitingEvent {
  return { eventId: event_id, at: created_at, attempt: attempts + 1, event: fromJson<InboxEvent>(payload) };
}

interface Started extends Pick<Cycle, 'answers' | 'isTakenOver'> {
  readonly run: RunRow;
  readonly entries: readonly Entry[];
  readonly written: readonly TranscriptRow[];
}

function toCycle(
  { held: { lease }, agent, row, context: { consciousness, rows, situation } }: Taking,
  { run, entries, written, ...rest }: Started,
): Cycle {
  return {
    lease,
    runId: run.id,
    number: run.cycle_no,
    agent,
    transcript: new Transcript([...consciousness.entries, ...entries]),
    records: consciousness.records,
    rows: [...rows, ...written],
    situation,
    state: row.state === null ? undefined : fromJson<SessionState>(row.state),
    ...rest,
    nextSeq: consciousness.nextSeq + entries.length,
    activeSpaceId: row.active_space_id,
    cards: new Set(),
    isCancelRequested: run.cancel_requested_at !== null,
    announcedSpaceId: run.active_in,
    leaseReleased: false,
    endPersisted: false,
  };
}
