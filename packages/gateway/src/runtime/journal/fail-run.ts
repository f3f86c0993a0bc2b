import type { Entry, Settlement, Stop } from '@lastcall/core';
import type { Selectable } from 'kysely';
import { statusOfOutcome } from '../../domain/calls/call-status.ts';
import { isCancelAccepted } from '../../domain/runs/run-cancelled.ts';
import type { FailedRequest } from '../../domain/runs/stored-request.ts';
import { updateCard } from '../../domain/spaces/tool-card.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import { originOf } from '../../domain/transcript/machine-rows.ts';
import { type EntryRecord, fromEntryPayload, toEntryPayload } from '../../domain/transcript/transcript-row.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { CallRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { createRedact, type Redact } from '../../telemetry/redact.ts';
import { fenced, type HeldThread } from '../lease/lease.ts';
import type { ActiveRun, EndingRun } from '../run/active-run.ts';
import { toRunFailure } from '../run/run-failure.ts';
import { appendRows } from './append-rows.ts';
import { closeRun, type RunEnd } from './close-run.ts';
import { lastSeq } from './last-seq.ts';
import type { NotedRequest } from './request-notes.ts';
import { writeTexts } from './request-texts.ts';
import { endUnendedCall, unendedCalls } from './unended-calls.ts';

/** How a turn failed. */
export interface FailedTurn {
  readonly error: unknown;
  readonly redact?: Redact | undefined;
  /** The request that the model did not answer. */
  readonly request?: UnansweredRequest | undefined;
}

/** A request without a reply, and the texts that it refers to. */
interface UnansweredRequest extends Omit<NotedRequest, 'request'> {
  readonly request: Omit<FailedRequest, 'beforeSeq'>;
}

/** Ends a run that cannot continue. Its calls are settled, and its events are tried again if that may help. */
export async function failRun(
  { store }: Pick<Services, 'store'>,
  run: ActiveRun,
  { error, redact = createRedact(), request }: FailedTurn,
): Promise<'failed' | 'cancelled'> {
  const failure = toRunFailure(error, redact, { isUnanswered: request !== undefined });
  return await fenced(store, run.lease, (_tx, held) => closeFailedRun(held, run, { ...failure, request }));
}

/**
 * Ends everything that is open, in one transaction: calls, their cards, and the shown part of an incomplete reply. If a
 * cancel was accepted, the run ends as cancelled although it failed, because the caller was already told so.
 */
export async function closeFailedRun(
  held: HeldThread,
  run: EndingRun,
  {
    message,
    stop: why,
    request: asked,
    ...how
  }: { readonly message: string; readonly stop?: Stop | undefined } & Pick<FailedTurn, 'request'> &
    Pick<RunEnd, 'retry' | 'hold' | 'text' | 'code'>,
): Promise<'failed' | 'cancelled'> {
  const { tx } = held;
  if (asked !== undefined) writeTexts(tx, asked.texts);
  const isCancelled = await isCancelAccepted(tx, run.runId);
  const open = await settleOpenCalls(tx, run, {
    reason: isCancelled ? 'the run was cancelled' : message,
    isCancelled,
  });
  const failed = why ?? ({ reason: 'error', error: message } as const);
  const stop = isCancelled ? ({ reason: 'aborted' } as const) : failed;
  // Read from the store, because the failed turn may not know about the last write.
  const seq = (await lastSeq(tx, held.threadId)) + 1;
  const request = asked && { ...asked.request, beforeSeq: seq };
  const end: EntryRecord = { entry: { kind: 'stop', stop }, request };
  const records: EntryRecord[] = [...open, end];
  appendRows(held, { runId: run.runId, seq }, records.map(toRow));
  const status = isCancelled ? 'cancelled' : 'failed';
  await closeRun(tx, run, { status, stop, ...how, announcedSpaceId: await announcedSpace(tx, run) });
  return status;
}

function toRow(record: EntryRecord): { kind: string; payload: string } {
  return { kind: record.entry.kind, payload: toEntryPayload(record) };
}

/** Read from the store, like the next number: the failed turn may be ahead of it by a write that failed. */
async function announcedSpace(tx: Tx, { runId }: EndingRun): Promise<string | null> {
  const run = await tx.db.selectFrom('runs').select('active_in').where('id', '=', runId).executeTakeFirst();
  return run?.active_in ?? null;
}

async function settleOpenCalls(
  tx: Tx,
  run: EndingRun,
  { reason, isCancelled }: { reason: string; isCancelled: boolean },
): Promise<EntryRecord[]> {
  const records: EntryRecord[] = [];
  const callsWithCard = new Set<string>();
  const calls = [...(await openCalls(tx, run)), ...(await answeredCalls(tx, run, { isCancelled }))];
  const instances = await instancesOf(tx, calls);
  for (const { id, tool_name: toolName, input, status, run_id, wait_kind, created_at: startedAt } of calls) {
    const now = tx.now();
    const outcome = outcomeOf(status === 'started', reason);
    await tx.db
      .updateTable('calls')
      .set({ status: 'settled', outcome: toJson(outcome), outcome_status: statusOfOutcome(outcome), settled_at: now })
      .where('id', '=', id)
      .execute();
    const card = {
      ...({ status: outcome.status === 'error' ? 'error' : 'cancelled', output: outcome.text } as const),
      callStatus: statusOfOutcome(outcome),
    };
    if ((await updateCard(tx, id, card)) !== undefined) callsWithCard.add(id);
    const call = { callId: id, toolName, input: fromJson(input), outcome };
    const settled = { kind: 'settled', settlement: { ...call, startedAt, endedAt: now } } as const;
    records.push(ofInstance(settled, { isWait: wait_kind !== null, instance: instances.get(id) }));
    const type = outcome.status === 'error' ? 'tool-call.error' : 'tool-call.cancelled';
    // The stream of the run that asked for an approval gets the event too.
    for (const runId of new Set([run.runId, run_id])) tx.emit({ stream: runStream(runId), type, payload: call });
  }
  for (const unended of await unendedCalls(tx.db, run))
    if (!callsWithCard.has(unended.callId)) endUnendedCall(tx, unended, 'The run failed.');
  return records;
}

/** The instances of a machine that made the calls. Empty if the agent was no machine when it made them. */
async function instancesOf(tx: Tx, calls: readonly Selectable<CallRow>[]): Promise<ReadonlyMap<string, Instance>> {
  const runIds = [...new Set(calls.map(({ run_id }) => run_id))];
  if (runIds.length === 0) return new Map();
  const rows = await tx.db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', 'in', runIds)
    .where('kind', '=', 'reply')
    .execute();
  return new Map(
    rows.flatMap(({ payload }) => {
      const { entry } = fromEntryPayload(payload);
      const { thread, instanceId, node } = originOf(entry);
      if (entry.kind !== 'reply' || thread === undefined || instanceId === undefined) return [];
      return entry.calls.map(
        ({ callId }) => [callId, { thread, instanceId, ...(node === undefined ? {} : { node }) }] as const,
      );
    }),
  );
}

/** Where an entry belongs in a machine. */
interface Instance {
  readonly thread: string;
  readonly instanceId: string;
  readonly node?: string;
}

/** The end is also part of the machine: otherwise its next run would run the call, or end it again. */
function ofInstance(
  entry: Extract<Entry, { kind: 'settled' }>,
  { isWait, instance }: { readonly isWait: boolean; readonly instance: Instance | undefined },
): EntryRecord {
  if (instance === undefined) return { entry };
  const change = { kind: 'settled', id: instance.instanceId, callId: entry.settlement.callId };
  const machine = isWait ? { machine: [{ kind: 'machine', change }] } : {};
  return { entry: { ...entry, ...instance }, staged: { events: [], slices: {}, ...machine } };
}

async function openCalls(tx: Tx, { runId }: EndingRun): Promise<Selectable<CallRow>[]> {
  return await tx.db
    .selectFrom('calls')
    .selectAll()
    .where('run_id', '=', runId)
    .where('status', 'in', ['planned', 'started'])
    .orderBy('step')
    .orderBy('index')
    .execute();
}

/**
 * Calls of earlier runs that this run was to continue, because they had been approved, denied or answered. A call that
 * has started is in doubt. Any other waits for the next attempt; if the run was cancelled, there is none.
 */
async function answeredCalls(
  tx: Tx,
  { runId, answers }: EndingRun,
  { isCancelled }: { isCancelled: boolean },
): Promise<Selectable<CallRow>[]> {
  const callIds = Object.keys(answers);
  if (callIds.length === 0) return [];
  return await tx.db
    .selectFrom('calls')
    .selectAll()
    .where('id', 'in', callIds)
    .where('run_id', '!=', runId)
    .where('status', 'in', isCancelled ? ['started', 'pending'] : ['started'])
    .orderBy('id')
    .execute();
}

function outcomeOf(isStarted: boolean, reason: string): Settlement['outcome'] {
  if (!isStarted) return { status: 'cancelled', reason, text: `Cancelled: the run failed (${reason}).` };
  const message = `The run failed while the call ran (${reason}): whether it took effect is unknown.`;
  return { status: 'error', code: 'unknown_outcome', message, text: message };
}
