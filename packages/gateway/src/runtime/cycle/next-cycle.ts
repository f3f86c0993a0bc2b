import type { Entry } from '@lastcall/core';
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
import { hideTag } from '../../telemetry/hide-tag.ts';
import { createRedact, type Redact } from '../../telemetry/redact.ts';
import { type Claimant, claimThread, fenced, type HeldThread, type Lease, reclaimThread } from '../lease/lease.ts';
import { release } from '../lease/release-thread.ts';
import type { ConfiguredAgent, Cycle } from './cycle.ts';
import { toHistoryFailure } from './cycle-failure.ts';
import { startState } from './cycle-state.ts';
import { closeFailedRun } from './fail-run.ts';
import { insertEntries, serializeRecord } from './insert-entries.ts';
import { readAgent } from './read-agent.ts';
import { readDecisions } from './read-decisions.ts';
import { type Past, readPast } from './read-past.ts';
import {
  type EventRow,
  FIRST_PAGE,
  loadContext,
  readThread,
  type ThreadContext,
  type ThreadedAgent,
  type ThreadRows,
  waitingEvents,
} from './read-thread.ts';
import type { Registry } from './registry.ts';
import { settleFromEvents } from './settle-from-events.ts';
import type { TranscriptCache } from './transcript-cache.ts';

/** A thread that was just claimed, and the cycle to run on it. */
export interface ClaimedCycle {
  readonly lease: Lease;
  readonly cycle: Cycle;
}

/**
 * Claims a thread and its next cycle in one transaction. Returns undefined if another worker holds the thread or there
 * is nothing to do; the thread is then as free as it was.
 */
export async function claimNextCycle(
  services: Services,
  registry: Registry,
  threadId: string,
  { owner, isUrgent, transcriptCache }: { owner: string; isUrgent: boolean; transcriptCache: TranscriptCache },
): Promise<ClaimedCycle | undefined> {
  const claimant = { owner, leaseMs: services.limits.leaseMs };
  const take = async (tx: Tx): Promise<ClaimedCycle | undefined> => {
    const held = await claimThread(tx, threadId, claimant);
    if (held === undefined) return undefined;
    const { lease } = held;
    // A woken thread usually has work, so the context is loaded in the same round trip that asks for the work.
    const [found, context] = await pipeline(
      readThread(held),
      loadContext(held, transcriptCache.get(lease, { isNewClaim: true })),
    );
    let isIdle = true;
    const useContext = async (): Promise<ThreadContext> => {
      isIdle = false;
      return context;
    };
    const cycle = await findCycle(services, held, registry, { found, loadContext: useContext });
    if (cycle !== undefined) return { lease, cycle };
    release(tx, lease);
    // A run that was ended here has written to the transcript.
    tx.afterCommit(() => (isIdle ? transcriptCache.updateEpoch(lease) : transcriptCache.forget(threadId)));
    return undefined;
  };
  return await forgetOnError(transcriptCache, threadId, () => services.store.transaction(take, { isUrgent }));
}

/** Forgets the cached transcript if the transaction failed: then it is unknown what was written. */
async function forgetOnError<T>(
  transcriptCache: TranscriptCache,
  threadId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    transcriptCache.forget(threadId);
    throw error;
  }
}

/**
 * Finds the next cycle of a held thread: the run that a dead worker left open, or a new run for the waiting events.
 * Returns undefined, and releases the thread, if there is neither. A new run, its claimed events and the text that the
 * model will read are written in one transaction: a crash after it leaves a run to take over, a crash before it leaves
 * waiting events. `reclaim` is given if it is unknown whether the thread was released.
 */
export async function nextCycle(
  services: Services,
  registry: Registry,
  lease: Lease,
  { transcriptCache, reclaim }: { transcriptCache: TranscriptCache; reclaim?: Claimant | undefined },
): Promise<Cycle | undefined> {
  const known = transcriptCache.get(lease, { isNewClaim: false });
  const take = async (tx: Tx, held: HeldThread): Promise<Cycle | undefined> => {
    if (reclaim !== undefined) await reclaimThread(tx, lease, reclaim);
    const cycle = await findCycle(services, held, registry, {
      found: await readThread(held),
      loadContext: () => loadContext(held, known),
    });
    // Released in the transaction that found nothing: an event that is written meanwhile wakes a worker, which then
    // finds the thread free.
    if (cycle === undefined) release(tx, lease);
    return cycle;
  };
  return await forgetOnError(transcriptCache, lease.threadId, () => fenced(services.store, lease, take));
}

interface CycleSource {
  readonly found: ThreadRows;
  /** Called only if there is something to do. */
  readonly loadContext: () => Promise<ThreadContext>;
}

async function findCycle(
  services: Services,
  held: HeldThread,
  { agentLimits, metrics, redact }: Registry,
  { found: { row, open, events, lastCycle }, loadContext }: CycleSource,
): Promise<Cycle | undefined> {
  if (row === undefined) return undefined;
  const agent = readAgent(row, agentLimits);
  const isIdle = row.status !== 'active' || events.length === 0;
  if (open === undefined && isIdle) return undefined;
  const context = await loadContext();
  const past = readPast(context.rows, row.state);
  const inputs = { held, agent, row, context, past };
  const maxEvents = agent.limits.eventsPerCycle;
  const isFirstPageEnough = events.length < FIRST_PAGE || maxEvents <= FIRST_PAGE;
  const cycle =
    open === undefined
      ? await startRun(services, {
          ...inputs,
          metrics,
          events: isFirstPageEnough ? events.slice(0, maxEvents) : await waitingEvents(held.tx, agent.id, maxEvents),
          lastCycle,
        })
      : await takeOverRun(services, { ...inputs, open });
  if (past.flaw === undefined || cycle === undefined) return cycle;
  await closeUnreadable(services, held, cycle, past.flaw, redact);
  return undefined;
}

/** Closes the run in the transaction that took its events: no model can be asked about a history that cannot be read. */
async function closeUnreadable(
  services: Services,
  held: HeldThread,
  cycle: Cycle,
  { error }: NonNullable<Past['flaw']>,
  redact: Redact = createRedact(),
): Promise<void> {
  const failure = toHistoryFailure(error, (text) => hideTag(redact(text), cycle.agent.tag));
  held.tx.afterCommit(() => services.logger.error(`Agent ${cycle.agent.id} cannot work. ${failure.message}`));
  await closeFailedRun(services, held, cycle, failure);
}

interface CycleInputs {
  readonly held: HeldThread;
  readonly agent: ConfiguredAgent;
  readonly row: ThreadedAgent;
  readonly context: ThreadContext;
  readonly past: Past;
}

/** A run that crashed this many workers in a row, without any progress, would crash the next one too. */
const MAX_TAKEOVERS = 20;

async function takeOverRun(
  services: Services,
  { open, ...inputs }: CycleInputs & { open: RunRow },
): Promise<Cycle | undefined> {
  const { held, past } = inputs;
  const { tx, lease } = held;
  const { consciousness } = past;
  const events = await eventsOfRun(tx, open.id);
  const attempts = consciousness.nextSeq > open.taken_seq ? 1 : open.attempts + 1;
  await tx.db
    .updateTable('runs')
    .set({ epoch: lease.epoch, attempts, taken_seq: consciousness.nextSeq })
    .where('id', '=', open.id)
    .execute();
  const answers = await readDecisions(tx, events);
  const cycle = toCycle(inputs, { run: open, entries: [], written: [], answers, isTakenOver: true });
  if (attempts <= MAX_TAKEOVERS) return cycle;
  const message = `This run was taken over ${MAX_TAKEOVERS} times without making progress.`;
  await closeFailedRun(services, held, cycle, { message, retry: false });
  return undefined;
}

interface NewRunInputs extends CycleInputs, Pick<Registry, 'metrics'>, Pick<ThreadRows, 'events' | 'lastCycle'> {}

async function startRun(services: Services, { metrics, events, lastCycle, ...inputs }: NewRunInputs): Promise<Cycle> {
  const { held, agent, row, past } = inputs;
  const { tx, lease } = held;
  const { consciousness } = past;
  const run = toRun({ lease, row, events, nextSeq: consciousness.nextSeq, number: lastCycle + 1, now: tx.now() });
  const waiting = events.map(toWaitingEvent);
  tx.afterCommit(() => {
    for (const { at } of waiting) metrics?.inboxLag((run.created_at - at) / 1_000);
  });
  const text = renderInbox(waiting, { cycle: run.cycle_no, tag: agent.tag, now: run.created_at });
  const entries: Entry[] = [
    ...(await settleFromEvents(tx, waiting)),
    { kind: 'turn' },
    { kind: 'message', message: { role: 'user', content: [{ type: 'text', text }] } },
  ];
  const place = { runId: run.id, seq: consciousness.nextSeq };
  tx.send(insertRun, run);
  for (const { id } of events) tx.send(claimEvent, { id, runId: run.id });
  const written = insertEntries(
    held,
    place,
    entries.map((entry) => serializeRecord({ entry })),
  );
  emit(services, tx, { channel: runChannel(run.id), type: 'run.start', payload: { runId: run.id, agentId: agent.id } });
  if (run.active_in !== null) {
    const payload = { runId: run.id, entityId: agent.entityId };
    emit(services, tx, { channel: spaceChannel(run.active_in), type: 'agent.active', payload });
  }
  const answers = await readDecisions(tx, events);
  return toCycle(inputs, { run, entries, written, answers, isTakenOver: false });
}

const insertRun = insertRow('runs');

const claimEvent = statement((db, { id, runId }: Params<{ id: number; runId: string }>) =>
  db
    .updateTable('inbox_events')
    .set((eb) => ({ status: 'claimed' as const, run_id: runId, attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id),
);

interface NewRun extends Pick<CycleInputs, 'row'>, Pick<ThreadRows, 'events'> {
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

async function eventsOfRun(tx: Tx, runId: string): Promise<EventRow[]> {
  return await tx.db.selectFrom('inbox_events').selectAll().where('run_id', '=', runId).execute();
}

function toWaitingEvent({ event_id, created_at, attempts, payload }: EventRow): WaitingEvent {
  return { eventId: event_id, at: created_at, attempt: attempts + 1, event: fromJson<InboxEvent>(payload) };
}

interface RunInputs extends Pick<Cycle, 'answers' | 'isTakenOver'> {
  readonly run: RunRow;
  readonly entries: readonly Entry[];
  readonly written: readonly TranscriptRow[];
}

function toCycle(
  {
    held: { lease },
    agent,
    context: { rows, situation },
    past: { consciousness, transcript, state },
    row,
  }: CycleInputs,
  { run, entries, written, ...rest }: RunInputs,
): Cycle {
  transcript.push(...entries);
  return {
    lease,
    runId: run.id,
    number: run.cycle_no,
    agent,
    transcript,
    records: consciousness.records,
    rows: [...rows, ...written],
    situation,
    state,
    ...rest,
    isCancelRequested: run.cancel_requested_at !== null,
    start: startState({
      nextSeq: consciousness.nextSeq + entries.length,
      activeSpaceId: row.active_space_id,
      announcedSpaceId: run.active_in,
    }),
  };
}
