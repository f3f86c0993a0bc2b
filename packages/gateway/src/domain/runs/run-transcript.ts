import type { Changes, Entry, Outcome } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { DEFAULT_GATEWAY_LIMITS } from '../../config/limits.ts';
import type { ModelPrices } from '../../config/prices.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { CallRow, Tables, TranscriptEntryRow } from '../../ports/store/schema/tables.ts';
import { nameOfAnswerer } from '../calls/answerer-name.ts';
import { type CallStatus, callStatus } from '../calls/call-status.ts';
import { numberCursor, type Page, type PageOptions, pageLimit, toPage } from '../entities/page.ts';
import { type CutOutcome, cutOutcome, type OutputLimits } from '../transcript/cut-output.ts';
import { toReadable } from '../transcript/readable-frames.ts';
import { costOf } from './cost.ts';
import { getRun } from './run.ts';
import { type SubAgentTurn, subAgentTurns, turnsWithin } from './sub-agent-turn.ts';

/** One stored entry, with its frames converted for people. */
export interface RunEntry {
  /** The number within the thread, across its runs. */
  readonly seq: number;
  readonly kind: string;
  readonly at: number;
  /** The entry, or the summary if it is a compaction. */
  readonly entry: unknown;
  /** Set on the end of a call that changed something. */
  readonly changes?: Changes;
  /** Set on a reply, if the price of its model is configured. */
  readonly cost?: number;
  /** Set on the end of a call that waited: who answered it. */
  readonly by?: { readonly id: string; readonly name: string };
  /** Set on the end of a call that ran because of a grant. */
  readonly grantId?: string;
  /** Set on the wait of a call: how the call stands now. */
  readonly status?: CallStatus;
  /** How a call that waited ended, perhaps in a later run. */
  readonly ended?: { readonly outcome: CutOutcome; readonly at: number };
  /** Set on the end of a call that ran a sub-agent: what that one did, and those that it called. */
  readonly subAgents?: readonly SubAgentTurn[];
}

interface TranscriptOptions extends PageOptions {
  readonly prices?: ModelPrices | undefined;
  readonly limits?: OutputLimits | undefined;
}

export async function runTranscript(
  db: Kysely<Tables>,
  runId: string,
  { prices, limits = DEFAULT_GATEWAY_LIMITS, ...page }: TranscriptOptions = {},
): Promise<Page<RunEntry>> {
  const limit = pageLimit(page.limit);
  const after = numberCursor(page.cursor);
  await getRun(db, runId);
  let query = db.selectFrom('transcript_entries').selectAll().where('run_id', '=', runId);
  if (after !== undefined) query = query.where('seq', '>', after);
  const rows = await query
    .orderBy('seq')
    .limit(limit + 1)
    .execute();
  const found = toPage(rows, {
    limit,
    cursorOf: ({ seq }) => String(seq),
    toItem: (row) => toRunEntry(row, prices),
  });
  const ended = await withEnds(db, await withAnswerers(db, found.items), limits);
  return { ...found, items: withSubAgents(ended, await subAgentTurns(db, runId, prices)) };
}

function withSubAgents(entries: readonly RunEntry[], turns: readonly SubAgentTurn[]): readonly RunEntry[] {
  if (turns.length === 0) return entries;
  return entries.map((entry) => {
    const subAgents = turnsWithin(callOf(entry, 'settled') ?? '', turns);
    return subAgents.length === 0 ? entry : { ...entry, subAgents };
  });
}

/** Adds who answered the calls that waited, and the grants of those that did not. */
async function withAnswerers(db: Kysely<Tables>, entries: readonly RunEntry[]): Promise<readonly RunEntry[]> {
  const callIds = entries.flatMap((entry) => callOf(entry, 'settled') ?? []);
  if (callIds.length === 0) return entries;
  const rows = await db
    .selectFrom('calls')
    .select(['id', 'answered_by', 'grant_id'])
    .where('id', 'in', callIds)
    .where((eb) => eb.or([eb('answered_by', 'is not', null), eb('grant_id', 'is not', null)]))
    .execute();
  const granted = new Map(rows.map(({ id, grant_id: grantId }) => [id, grantId]));
  const known = new Map<string, NonNullable<RunEntry['by']>>();
  for (const { id, answered_by: by } of rows)
    if (by !== null) known.set(id, { id: by, name: await nameOfAnswerer(db, by) });
  return entries.map((entry) => {
    const callId = callOf(entry, 'settled') ?? '';
    const [by, grantId = null] = [known.get(callId), granted.get(callId)];
    return {
      ...entry,
      ...(by === undefined ? {} : { by }),
      ...(grantId === null ? {} : { grantId }),
    };
  });
}

/** Adds how calls that waited stand, and how they ended. Their own run may have ended long before. */
async function withEnds(
  db: Kysely<Tables>,
  entries: readonly RunEntry[],
  limits: OutputLimits,
): Promise<readonly RunEntry[]> {
  const callIds = entries.flatMap((entry) => callOf(entry, 'pending') ?? []);
  if (callIds.length === 0) return entries;
  const rows = await db
    .selectFrom('calls')
    .select(['id', 'status', 'outcome', 'outcome_status', 'settled_at'])
    .where('id', 'in', callIds)
    .execute();
  const known = new Map(rows.map((row) => [row.id, { status: callStatus(row), ...endOf(row, limits) }]));
  return entries.map((entry) => ({ ...entry, ...known.get(callOf(entry, 'pending') ?? '') }));
}

function endOf(
  { id, status, outcome, settled_at: at }: Pick<CallRow, 'id' | 'status' | 'outcome' | 'settled_at'>,
  limits: OutputLimits,
): Pick<RunEntry, 'ended'> {
  if (status !== 'settled' || outcome === null || at === null) return {};
  return { ended: { outcome: cutOutcome(fromJson<Outcome>(outcome), id, limits), at } };
}

function callOf({ kind, entry }: RunEntry, wanted: 'settled' | 'pending'): string | undefined {
  return kind === wanted ? (entry as { settlement: { callId: string } }).settlement.callId : undefined;
}

function toRunEntry({ seq, kind, created_at, payload }: TranscriptEntryRow, prices: ModelPrices | undefined): RunEntry {
  const { entry, summary, changes } = fromJson<StoredEntry>(payload);
  const readable = { seq, kind, at: created_at, entry: toReadable(entry ?? { kind, summary }) };
  const cost = kind === 'reply' ? costOf(entry as Extract<Entry, { kind: 'reply' }>, prices) : undefined;
  return {
    ...readable,
    ...(changes === undefined ? {} : { changes }),
    ...(cost === undefined ? {} : { cost }),
  };
}

interface StoredEntry {
  readonly entry?: unknown;
  /** Set for a compaction. */
  readonly summary?: string;
  readonly changes?: Changes;
}
