import type { Outcome, Settlement, Staged } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { originOf } from '../transcript/machine-rows.ts';
import type { EntryRecord } from '../transcript/transcript-row.ts';
import { toOutcome } from './changed-outcome.ts';
import { DRAFT_STEP } from './draft.ts';
import type { Fork } from './fork.ts';

/** A call of the original run, and how it ended. */
export interface RecordedCall extends Pick<Settlement, 'callId' | 'toolName' | 'input' | 'outcome'> {
  /** Of a machine: the instance that made it. */
  readonly instanceId: string | undefined;
  /** True if its success was the response. */
  readonly isTerminal: boolean;
  /** How it changed the session, and the machine. */
  readonly staged?: Staged | undefined;
}

/**
 * The calls that the original run made from the fork's step on, in order. A call that an agent's run left waiting is recorded as waiting,
 * because the model went on without its answer. A conversation, or an instance of a machine, stopped there and got the answer in a later
 * run: the answer is recorded.
 */
export async function recordedCalls(db: Kysely<Tables>, fork: Fork): Promise<readonly RecordedCall[]> {
  const { originThreadId: threadId, originRunId: runId, baseSeq: after, originKind, changes } = fork;
  // A conversation with a draft has one turn, whose later runs continue after answers.
  const original = fork.atStep === DRAFT_STEP && runId !== '' ? { threadId, after } : { threadId, runId, after };
  const inRun = await endsIn(db, original);
  const ends = await withLaterEnds(db, { threadId, after }, inRun);
  const ids = ends.map(({ settlement: { callId } }) => callId);
  const stored = await storedCalls(db, ids);
  const asked = ends.some(({ instanceId }) => instanceId !== undefined) ? await orderOfCalls(db, original) : undefined;
  const found = ends.flatMap(({ settlement, instanceId, staged }) => {
    const { callId, toolName, input, terminal } = settlement;
    const row = stored.get(callId);
    const isLeftWaiting = originKind === 'agent' && instanceId === undefined;
    const outcome = outcomeOf(settlement.outcome, row?.outcome, isLeftWaiting);
    const changed = changes.outcomes?.[callId];
    if (changed === undefined && (outcome === undefined || isRefusedBeforeRun(outcome))) return [];
    const call = { callId, toolName, input, instanceId, isTerminal: terminal === true };
    const place = asked?.get(callId) ?? (row?.step ?? 0) * 1_000 + (row?.index ?? 0);
    if (changed !== undefined) return [{ call: { ...call, outcome: toOutcome(changed, toolName) }, place }];
    return [{ call: { ...call, outcome: outcome as Outcome, staged }, place }];
  });
  // Calls that ran in parallel ended in any order.
  return found.toSorted((one, other) => one.place - other.place).map(({ call }) => call);
}

/** The ends of calls that a fork has written itself, in order. Of a call that waited, the newest. */
export async function ownEnds(db: Kysely<Tables>, { contextId, baseSeq }: Fork): Promise<readonly EndOfCall[]> {
  return await endsIn(db, { threadId: contextId, after: baseSeq });
}

/** The calls of a machine that waited at the step of the fork, as the fork has copied them. */
export async function copiedWaits(db: Kysely<Tables>, { contextId, baseSeq }: Fork): Promise<readonly EndOfCall[]> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('thread_id', '=', contextId)
    .where('seq', '<=', baseSeq)
    .where('kind', '=', 'pending')
    .execute();
  return rows.flatMap(({ payload }) => toEnd(fromJson<EntryRecord>(payload)) ?? []);
}

/** The newest end of a call, or that it waits. */
export interface EndOfCall {
  readonly settlement: Settlement;
  /** Of a machine: the instance that made the call. */
  readonly instanceId: string | undefined;
  readonly staged?: Staged | undefined;
}

interface EndsQuery {
  readonly threadId: string;
  readonly runId?: string | undefined;
  readonly after: number;
}

async function endsIn(db: Kysely<Tables>, { threadId, runId, after }: EndsQuery): Promise<readonly EndOfCall[]> {
  let query = db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('thread_id', '=', threadId)
    .where('seq', '>', after)
    .where('kind', 'in', ['settled', 'pending']);
  if (runId !== undefined) query = query.where('run_id', '=', runId);
  const ends = new Map<string, EndOfCall>();
  for (const { payload } of await query.orderBy('seq').execute()) {
    const end = toEnd(fromJson<EntryRecord>(payload));
    if (end !== undefined) ends.set(end.settlement.callId, end);
  }
  return [...ends.values()];
}

function toEnd({ entry, staged }: EntryRecord): EndOfCall | undefined {
  if (entry.kind !== 'settled' && entry.kind !== 'pending') return undefined;
  return { settlement: entry.settlement, instanceId: originOf(entry).instanceId, staged };
}

/**
 * A call of a machine that waited at the end of the run may have ended in a later run, and have changed the machine there. The rows of a
 * thread are read in parts, because most calls end soon, and the thread may be long.
 */
async function withLaterEnds(
  db: Kysely<Tables>,
  { threadId, after: base }: Pick<EndsQuery, 'threadId' | 'after'>,
  ends: readonly EndOfCall[],
): Promise<readonly EndOfCall[]> {
  const open = ends.filter(({ settlement, instanceId }) => isOpen(settlement) && instanceId !== undefined);
  const answered = await storedCalls(
    db,
    open.map(({ settlement: { callId } }) => callId),
  );
  const missing = new Set([...answered].flatMap(([callId, { outcome }]) => (outcome === undefined ? [] : [callId])));
  const later = new Map<string, EndOfCall>();
  let after = base;
  while (missing.size > 0) {
    const rows = await db
      .selectFrom('transcript_entries')
      .select(['seq', 'payload'])
      .where('thread_id', '=', threadId)
      .where('seq', '>', after)
      .where('kind', '=', 'settled')
      .orderBy('seq')
      .limit(MOST_ROWS)
      .execute();
    for (const { seq, payload } of rows) {
      after = seq;
      const end = toEnd(fromJson<EntryRecord>(payload));
      if (end !== undefined && missing.delete(end.settlement.callId)) later.set(end.settlement.callId, end);
    }
    if (rows.length < MOST_ROWS) break;
  }
  return ends.map((end) => later.get(end.settlement.callId) ?? end);
}

function isOpen({ outcome }: Settlement): boolean {
  return outcome.status === 'pending';
}

const MOST_ROWS = 200;

/** The order in which the models of a run, or of a thread, asked for its calls. Instances of a machine number their steps each on its own. */
async function orderOfCalls(db: Kysely<Tables>, { threadId, runId }: EndsQuery): Promise<ReadonlyMap<string, number>> {
  let query = db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('thread_id', '=', threadId)
    .where('kind', '=', 'reply');
  if (runId !== undefined) query = query.where('run_id', '=', runId);
  const rows = await query.orderBy('seq').execute();
  const order = new Map<string, number>();
  for (const { payload } of rows) {
    const { entry } = fromJson<EntryRecord>(payload);
    if (entry.kind === 'reply') for (const { callId } of entry.calls) order.set(callId, order.size);
  }
  return order;
}

interface StoredCall {
  readonly step: number;
  readonly index: number;
  /** The whole outcome, if the call has ended. */
  readonly outcome: Outcome | undefined;
}

const MOST_IDS = 500;

async function storedCalls(db: Kysely<Tables>, callIds: readonly string[]): Promise<ReadonlyMap<string, StoredCall>> {
  const found = new Map<string, StoredCall>();
  for (let start = 0; start < callIds.length; start += MOST_IDS) {
    const rows = await db
      .selectFrom('calls')
      .select(['id', 'step', 'index', 'outcome', 'status'])
      .where('id', 'in', callIds.slice(start, start + MOST_IDS))
      .execute();
    for (const { id, step, index, outcome, status } of rows) {
      const end = status === 'settled' && outcome !== null ? fromJson<Outcome>(outcome) : undefined;
      found.set(id, { step, index, outcome: end });
    }
  }
  return found;
}

/** The call's row has the whole output, also if it was cut for the model. */
function outcomeOf(inRun: Outcome, stored: Outcome | undefined, isLeftWaiting: boolean): Outcome | undefined {
  if (inRun.status !== 'pending') return stored ?? inRun;
  return isLeftWaiting ? inRun : stored;
}

/** True if the call did not reach its tool. In the fork the same rules decide again. */
function isRefusedBeforeRun(outcome: Outcome): boolean {
  if (outcome.status === 'cancelled' || outcome.status === 'skipped') return true;
  return outcome.status === 'error' && REFUSALS.has(outcome.code);
}

const REFUSALS: ReadonlySet<string> = new Set([
  'unknown_tool',
  'invalid_input',
  'aborted',
  'budget',
  'terminal_already_called',
  'transition_already_called',
]);
