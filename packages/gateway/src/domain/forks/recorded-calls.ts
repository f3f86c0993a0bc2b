import type { Outcome, Settlement, Staged } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { EntryRecord } from '../transcript/transcript-row.ts';
import { toOutcome } from './changed-outcome.ts';
import type { Fork } from './fork.ts';

/** A call of the original run, and how it ended. */
export interface RecordedCall extends Pick<Settlement, 'callId' | 'toolName' | 'input' | 'outcome'> {
  /** True if its success was the response. */
  readonly isTerminal: boolean;
  /** How it changed the session. */
  readonly slices?: Staged['slices'];
}

/**
 * The calls that the original run made from the fork's step on, in order. A call that an agent's run left waiting is recorded as waiting,
 * because the model went on without its answer. A conversation stopped there and got the answer in a later run: the answer is recorded.
 */
export async function recordedCalls(db: Kysely<Tables>, fork: Fork): Promise<readonly RecordedCall[]> {
  const { originThreadId, originRunId, baseSeq, originKind, changes } = fork;
  const ends = await endsIn(db, { threadId: originThreadId, runId: originRunId, after: baseSeq });
  const stored = await storedCalls(
    db,
    ends.map(({ settlement: { callId } }) => callId),
  );
  const found = ends.flatMap(({ settlement, staged }) => {
    const { callId, toolName, input, terminal } = settlement;
    const row = stored.get(callId);
    const outcome = outcomeOf(settlement.outcome, row?.outcome, originKind === 'agent');
    const changed = changes.outcomes?.[callId];
    if (changed === undefined && (outcome === undefined || isRefusedBeforeRun(outcome))) return [];
    const call = { callId, toolName, input, isTerminal: terminal === true };
    if (changed !== undefined) return [{ call: { ...call, outcome: toOutcome(changed, toolName) }, row }];
    return [{ call: { ...call, outcome: outcome as Outcome, slices: staged?.slices }, row }];
  });
  // Calls that ran side by side ended in any order.
  const placeOf = ({ row }: (typeof found)[number]): number => (row?.step ?? 0) * 1_000 + (row?.index ?? 0);
  return found.toSorted((one, other) => placeOf(one) - placeOf(other)).map(({ call }) => call);
}

/** The ends of calls that a fork has written itself, in order. Of a call that waited, the newest. */
export async function ownEnds(db: Kysely<Tables>, { contextId, baseSeq }: Fork): Promise<readonly Settlement[]> {
  const ends = await endsIn(db, { threadId: contextId, after: baseSeq });
  return ends.map(({ settlement }) => settlement);
}

interface EndOfCall {
  readonly settlement: Settlement;
  readonly staged?: Staged | undefined;
}

async function endsIn(
  db: Kysely<Tables>,
  { threadId, runId, after }: { threadId: string; runId?: string; after: number },
): Promise<readonly EndOfCall[]> {
  let query = db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('thread_id', '=', threadId)
    .where('seq', '>', after)
    .where('kind', 'in', ['settled', 'pending']);
  if (runId !== undefined) query = query.where('run_id', '=', runId);
  const ends = new Map<string, EndOfCall>();
  for (const { payload } of await query.orderBy('seq').execute()) {
    const { entry, staged } = fromJson<EntryRecord>(payload);
    if (entry.kind !== 'settled' && entry.kind !== 'pending') continue;
    ends.set(entry.settlement.callId, { settlement: entry.settlement, staged });
  }
  return [...ends.values()];
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
function outcomeOf(inRun: Outcome, stored: Outcome | undefined, isOfAgent: boolean): Outcome | undefined {
  if (inRun.status !== 'pending') return stored ?? inRun;
  return isOfAgent ? inRun : stored;
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
