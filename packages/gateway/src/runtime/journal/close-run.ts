import type { Stop } from '@lastcall/core';
import { backoffMs } from '@lastcall/core/internal';
import { sql } from 'kysely';
import { settleUnrun } from '../../domain/calls/settle-unrun.ts';
import { removeMessages } from '../../domain/conversations/remove-messages.ts';
import { endedCommands } from '../../domain/inbox/command-result.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { noteFailure } from '../../domain/notify/note-event.ts';
import { RunCancelled } from '../../domain/runs/run-cancelled.ts';
import { runWaits } from '../../domain/runs/run-status.ts';
import { updateCard } from '../../domain/spaces/tool-card.ts';
import { runStream, spaceStream } from '../../domain/streams/stream-names.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { AgentStatus, RunRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EndingRun } from '../run/active-run.ts';
import type { HeldRun } from '../run/held-run.ts';
import { CYCLE_FAILED } from '../run/run-failure.ts';
import { announceFailure, type FailedAttempt } from './announce-failure.ts';
import { holdEvents } from './hold-run.ts';
import { wakeAfterCommands } from './wake-after-commands.ts';

/** How a run ends. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly stop: Stop | { readonly reason: 'error'; readonly error: string };
  /** The error code in the stop of a failed run, for programs. */
  readonly code?: string;
  readonly usage?: unknown;
  /** Set if a spend limit of the day stopped a completed run: its events wait for the next day. */
  readonly held?: HeldRun | undefined;
  /** True if the events of a failed run are tried again, up to the agent's number of attempts. Default true. */
  readonly retry?: boolean;
  /** True if the events wait until the agent is resumed, changed, or found by the next start of a gateway. Default false. */
  readonly hold?: boolean | undefined;
  /** The text about a failure that people in a space may read. */
  readonly text?: string;
  /** The space in which the agent was announced as active. */
  readonly announcedSpaceId: string | null;
  /** True if a call of a completed run may still wait. Default false. */
  readonly mayWait?: boolean;
}

/**
 * Ends a run: its events are done, wait for another attempt, or are dead; the run's stream gets the reason, and the
 * space sees the agent become inactive. If a cancel was accepted, only `cancelled` can be written: any other end fails
 * the transaction with RunCancelled.
 */
export async function closeRun(tx: Tx, run: EndingRun, end: RunEnd): Promise<void> {
  const { runId, agent } = run;
  const { announcedSpaceId } = end;
  const now = tx.now();
  const { status } = end;
  const isWaiting = await stillWaits(tx, run, end);
  const values = { runId, status, stop: toJson(toStopJson(end)), usage: toJson(end.usage ?? null), now };
  if (status === 'cancelled') {
    tx.send(endCancelled, values);
    settleUnrun(tx, agent.id);
  } else tx.send(endIfUncancelled, values, (error) => (isStatusMissing(error) ? new RunCancelled(runId) : error));
  if (status === 'failed') {
    const failed = await returnEvents(tx, run, end);
    await announceFailure(tx, run, { ...failed, announcedSpaceId });
    // The person who made a fork sees how it ends.
    if (failed.retryAt === undefined && run.fork === undefined) await noteFailure(tx, { agentId: agent.id, runId });
  } else if (status === 'completed' && end.held !== undefined) await holdEvents(tx, run, end.held);
  else tx.send(finishEvents, { runId });
  if (announcedSpaceId !== null) {
    const payload = { runId, entityId: agent.entityId };
    tx.emit({ stream: spaceStream(announcedSpaceId), type: 'agent.inactive', payload });
  }
  const { stop, usage } = values;
  if (run.settings?.save === false)
    await removeMessages(tx, { id: runId, thread_id: run.lease.threadId, status, stop, usage });
  const payload = { runId, status: isWaiting ? 'waiting' : status, stop: toStopJson(end) };
  tx.emit({ stream: runStream(runId), type: 'run.end', payload });
}

/** Read before the end is written, because a refused end would be reported by this read instead. */
async function stillWaits(
  tx: Tx,
  { runId, settings }: EndingRun,
  { status, stop, mayWait = false }: RunEnd,
): Promise<boolean> {
  if (status !== 'completed' || !mayWait || settings?.save === false) return false;
  return stop.reason === 'suspended' || (await runWaits(tx.db, runId));
}

interface EndedRun extends Pick<RunRow, 'status' | 'stop' | 'usage'> {
  readonly runId: string;
  readonly now: number;
}

const endCancelled = statement((db, { runId, status, stop, usage, now }: Params<EndedRun>) =>
  db.updateTable('runs').set({ status, stop, usage, active_in: null, ended_at: now }).where('id', '=', runId),
);

/**
 * The statement that locks the row also checks for a cancel request. If there is one, the status becomes null and the
 * table refuses it. The statement itself must fail, because on PostgreSQL the commit is sent before its answer is read.
 */
const endIfUncancelled = statement(
  (db, { runId, status, stop, usage, now }: Params<EndedRun>) =>
    db
      .updateTable('runs')
      .set({
        status: sql<RunRow['status']>`case when cancel_requested_at is null then ${status} end`,
        stop,
        usage,
        active_in: null,
        ended_at: now,
      })
      .where('id', '=', runId),
  { types: { runId: 'text', status: 'text', stop: 'text', usage: 'text', now: 'bigint' }, key: 'runId' },
);

/** Recognises the refused null on PostgreSQL (23502) and on SQLite. */
function isStatusMissing(error: unknown): boolean {
  const { code, table, column, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (code === '23502') return table === 'runs' && column === 'status';
  return typeof message === 'string' && message.includes('NOT NULL constraint failed: runs.status');
}

/**
 * Only claimed events become done. If the agent was deleted meanwhile, its events are dead and stay so. The status is part of the text,
 * because SQLite compares it with the conditions of indexes: as a parameter, it would plan the statement again for each run.
 */
const finishEvents = statement(
  (db, { runId }: Params<{ runId: string }>) =>
    db
      .updateTable('inbox_events')
      .set({ status: 'done' })
      .where('run_id', '=', runId)
      .where('status', '=', sql.lit('claimed')),
  { types: { runId: 'text' }, key: 'runId' },
);

/**
 * Returns the events of a failed run to the inbox. The delay doubles with each attempt; after the last attempt they are
 * dead, until an operator redrives them.
 */
async function returnEvents(
  tx: Tx,
  { runId, agent, kind, lease }: EndingRun,
  end: RunEnd,
): Promise<Omit<FailedAttempt, 'announcedSpaceId'>> {
  const { limits } = tx;
  const error = toJson(toStopJson(end));
  const claimed = await tx.db
    .selectFrom('inbox_events')
    .select(['id', 'event_id', 'type', 'attempts', 'payload'])
    .where('run_id', '=', runId)
    .where('status', '=', 'claimed')
    .execute();
  const isCommand = claimed.some(({ type }) => type === 'command');
  const ended = isCommand ? await endedCommands(tx.db, runId) : new Map();
  const isEnded = ({ event_id }: { readonly event_id: string }): boolean => ended.has(event_id);
  // A command runs once, also if the run failed after it.
  for (const { id } of claimed.filter(isEnded))
    await tx.db.updateTable('inbox_events').set({ status: 'done' }).where('id', '=', id).execute();
  const events = claimed.filter((one) => !isEnded(one));
  const retries: number[] = [];
  const isHeld = end.hold === true && kind.retriesFailedRuns;
  if (events.length === 0 && kind.retriesFailedRuns && (isHeld || end.retry !== false)) {
    const at = isHeld ? tx.now() : tx.now() + backoffMs(1, { firstMs: limits.retryMs });
    if ((await wakeAfterCommands(tx, lease.threadId, claimed, { at, error })) && !isHeld) retries.push(at);
  }
  for (const { id, attempts, payload } of events) {
    const isLast = end.retry === false || !kind.retriesFailedRuns || attempts >= agent.limits.maxAttempts;
    const at = tx.now() + backoffMs(attempts, { firstMs: limits.retryMs });
    const returned = { status: 'pending' as const, error };
    await tx.db
      .updateTable('inbox_events')
      .set(
        isHeld
          ? // The attempt did not depend on the event, so it does not count.
            { ...returned, available_at: tx.now(), attempts: Math.max(0, attempts - 1) }
          : isLast
            ? { status: 'dead', error }
            : { ...returned, available_at: at },
      )
      .where('id', '=', id)
      .execute();
    if (isHeld) continue;
    if (isLast) await failApprovedCard(tx, fromJson(payload));
    else retries.push(at);
  }
  // The failure of one conversation does not change the state of the agent.
  if (kind.retriesFailedRuns)
    await tx.db
      .updateTable('agents')
      .set({
        last_error: error,
        ...(isHeld ? { status: sql<AgentStatus>`case when status = 'active' then 'invalid' else status end` } : {}),
      })
      .where('id', '=', agent.id)
      .execute();
  return {
    text: end.text ?? CYCLE_FAILED,
    attempt: Math.max(1, ...events.map(({ attempts }) => attempts)),
    retryAt: retries.length === 0 ? undefined : Math.min(...retries),
    events: events.map(({ payload }) => fromJson<InboxEvent>(payload)),
  };
}

/**
 * Ends the card of a call that was approved, or whose question was answered, but whose agent cannot continue. Otherwise
 * the call and its card would be shown as running for ever.
 */
async function failApprovedCard(tx: Tx, event: InboxEvent): Promise<void> {
  if (event.type !== 'tool_result') return;
  const { status } = event.outcome;
  if (status !== 'approved' && status !== 'answered') return;
  const output = `The call was ${status}, but the agent failed before it ran. It runs if an operator redrives the event.`;
  await updateCard(tx, event.callId, { status: 'error', output });
  const call = tx.db.updateTable('calls').set({ outcome_status: 'error' }).where('id', '=', event.callId);
  await call.where('status', '=', 'pending').execute();
}

/** A thrown error is not JSON, so its message is stored for operators to read. */
function toStopJson({ stop, code }: Pick<RunEnd, 'stop' | 'code'>): object {
  if (stop.reason !== 'error') return stop;
  const { error } = stop;
  const text = error instanceof Error ? error.message : String(error);
  return { reason: 'error', error: text, ...(code === undefined ? {} : { code }) };
}
