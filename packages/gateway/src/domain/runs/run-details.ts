import type { Usage } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { ModelPrices } from '../../config/prices.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { COUNTED_STATUSES, type CountedStatus } from '../calls/call-status.ts';
import { inputOf } from '../conversations/to-messages.ts';
import type { Page } from '../entities/page.ts';
import type { DraftDetails } from '../forks/draft.ts';
import { type ForkedFrom, forkOrDraft } from '../forks/fork.ts';
import { continuedBy } from './continued-by.ts';
import { totalCost } from './cost.ts';
import { type Output, outputText } from './output-text.ts';
import { getRun, getRuns, listRuns, type Run, type RunFilter } from './run.ts';
import { type SubAgentStep, subAgentTurns } from './sub-agent-turn.ts';
import { describeTriggers, type TriggerDetails } from './trigger-details.ts';

/** The number of a run's calls by status. `running` ones have not ended, or have not begun. */
type CallCounts = Readonly<Record<CountedStatus, number>>;

export interface CountedRun extends Run {
  readonly trigger: readonly TriggerDetails[];
  readonly counts: CallCounts;
}

export interface RunDetails extends CountedRun {
  /** The provider's name of the model that gave the last reply. */
  readonly model?: string;
  /** The final response of the run: the text of its last reply, or the output of the tool that ended it. */
  readonly response?: string;
  /**
   * The cost of its replies and of those of its sub-agents, if the prices of all their models are configured. A run whose sub-agents
   * were not recorded has no cost.
   */
  readonly cost?: number;
  /** The run that got the answer to a call that waited in this one. */
  readonly continuedBy?: string;
  /** Set for a run of a fork: what it was forked from, and what was changed. */
  readonly fork?: ForkedFrom;
  /** Set for a run of a draft. */
  readonly draft?: DraftDetails;
}

export async function listCountedRuns(db: Kysely<Tables>, filter: RunFilter): Promise<Page<CountedRun>> {
  const page = await listRuns(db, filter);
  return { ...page, items: await withCounts(db, page.items) };
}

/** Those of the runs that have begun, newest first. */
export async function countedRuns(db: Kysely<Tables>, ids: readonly string[]): Promise<readonly CountedRun[]> {
  return await withCounts(db, await getRuns(db, ids));
}

export async function getRunDetails(db: Kysely<Tables>, runId: string, prices?: ModelPrices): Promise<RunDetails> {
  const run = await getRun(db, runId);
  const [counted] = await withCounts(db, [run]);
  const reply = await lastReply(db, run);
  const response = await responseOf(db, counted as CountedRun, reply?.text);
  const cost = await runCost(db, runId, prices);
  const next = await continuedBy(db, run);
  const origin = run.threadId === run.agentId ? {} : await forkOrDraft(db, run.threadId);
  return {
    ...(counted as CountedRun),
    ...(reply?.model === undefined ? {} : { model: reply.model }),
    ...(response === undefined ? {} : { response }),
    ...(cost === undefined ? {} : { cost }),
    ...(next === undefined ? {} : { continuedBy: next }),
    ...origin,
  };
}

async function withCounts(db: Kysely<Tables>, runs: readonly Run[]): Promise<readonly CountedRun[]> {
  const counts = await countCalls(
    db,
    runs.map(({ id }) => id),
  );
  const triggers = await describeTriggers(db, runs);
  return runs.map((run) => ({
    ...run,
    trigger: triggers.get(run.id) ?? run.trigger,
    counts: counts.get(run.id) ?? NO_CALLS,
  }));
}

const NO_CALLS = Object.fromEntries(COUNTED_STATUSES.map((status) => [status, 0])) as CallCounts;

async function countCalls(db: Kysely<Tables>, runIds: readonly string[]): Promise<ReadonlyMap<string, CallCounts>> {
  const counts = new Map<string, Record<CountedStatus, number>>();
  if (runIds.length === 0) return counts;
  const rows = await db
    .selectFrom('calls')
    .select((eb) => ['run_id', 'outcome_status', eb.fn.countAll<number>().as('count')])
    .where('run_id', 'in', runIds)
    .where('during_call', 'is', null)
    .groupBy(['run_id', 'outcome_status'])
    .execute();
  for (const { run_id, outcome_status, count } of rows) {
    const own = counts.get(run_id) ?? { ...NO_CALLS };
    own[outcome_status ?? 'running'] += Number(count);
    counts.set(run_id, own);
  }
  return counts;
}

async function runCost(db: Kysely<Tables>, runId: string, prices: ModelPrices = {}): Promise<number | undefined> {
  if (Object.keys(prices).length === 0) return undefined;
  const nested = await subAgentSteps(db, runId, prices);
  if (nested === undefined) return undefined;
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', runId)
    .where('kind', '=', 'reply')
    // A fork has not paid for what it copied.
    .where('origin_run_id', 'is', null)
    .execute();
  const replies = rows.map(({ payload }) => fromJson<{ entry: LastReply & { usage: Usage } }>(payload).entry);
  return replies.length === 0 ? undefined : totalCost([...replies, ...nested], prices);
}

/** The replies of the sub-agents. Undefined if more tokens were used than they account for, as after a crash. */
async function subAgentSteps(
  db: Kysely<Tables>,
  runId: string,
  prices: ModelPrices,
): Promise<readonly SubAgentStep[] | undefined> {
  const used = db.selectFrom('nested_usage').select('total_tokens').where('run_id', '=', runId);
  const total = (await used.executeTakeFirst())?.total_tokens ?? 0;
  if (Number(total) === 0) return [];
  const turns = await subAgentTurns(db, runId, prices);
  const known = turns.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  return known === Number(total) ? turns.flatMap(({ steps }) => steps) : undefined;
}

interface LastReply {
  readonly text: string;
  readonly model?: string;
}

async function lastReply(db: Kysely<Tables>, { id }: Run): Promise<LastReply | undefined> {
  const row = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', id)
    .where('kind', '=', 'reply')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : fromJson<{ entry: LastReply }>(row.payload).entry;
}

async function responseOf(
  db: Kysely<Tables>,
  { id, stop, trigger }: CountedRun,
  text: string | undefined,
): Promise<string | undefined> {
  if (stop?.reason !== 'end_turn') return undefined;
  if (stop.by === 'text') return text;
  const own = await lastOutput(db, stop.tool, { runId: id });
  if (own !== undefined) return own;
  // A call that waited belongs to the run that made it. The run that got its answer may have ended with it.
  const answered = trigger.flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
  return answered.length === 0 ? undefined : await lastOutput(db, stop.tool, { callIds: answered });
}

async function lastOutput(
  db: Kysely<Tables>,
  toolName: string,
  of: { readonly runId: string } | { readonly callIds: readonly string[] },
): Promise<string | undefined> {
  const calls = db.selectFrom('calls').select(['id', 'outcome']);
  const row = await ('runId' in of ? calls.where('run_id', '=', of.runId) : calls.where('id', 'in', of.callIds))
    .where('tool_name', '=', toolName)
    .where('outcome_status', '=', 'ok')
    .orderBy('step', 'desc')
    .orderBy('index', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row?.outcome == null) return undefined;
  // A final message is the response itself; the output of its call only names it.
  if (toolName === 'send_message') return await sentText(db, row.id);
  return outputText(fromJson<Output>(row.outcome));
}

/** A message that a call sent has the id of the call. */
async function sentText(db: Kysely<Tables>, callId: string): Promise<string | undefined> {
  const message = db.selectFrom('messages').select('content').where('id', '=', callId);
  const row = await message.executeTakeFirst();
  if (row !== undefined) return fromJson<string>(row.content);
  // A fork sends nothing.
  const call = await db.selectFrom('calls').select('input').where('id', '=', callId).executeTakeFirst();
  // The input of a call that got a recorded outcome may be the text that the model wrote.
  const { text } = call === undefined ? {} : (inputOf(fromJson(call.input)) as { text?: unknown });
  return typeof text === 'string' ? text : undefined;
}
