import type { Usage } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/json.ts';
import type { RunRow, RunStatus, Tables } from '../../ports/store/tables.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { findQueued, type QueuedRun } from './queued-run.ts';

/** One cycle of a thread: the events that it took, and how it ended. */
export interface Run {
  readonly id: string;
  readonly agentId: string;
  readonly threadId: string;
  /** Counts 1, 2, 3 … within the thread. */
  readonly cycle: number;
  /** `queued`: a request of a context that waits for the one before it. */
  readonly status: RunStatus | 'queued';
  readonly trigger: unknown;
  /** Why it ended. */
  readonly stop?: unknown;
  /** Tokens, those of its sub-agents too. */
  readonly usage?: unknown;
  readonly configVersion: number;
  readonly cancelRequestedAt?: number;
  readonly createdAt: number;
  readonly endedAt?: number;
}

export interface RunFilter extends PageOptions {
  readonly agentId?: string | undefined;
  readonly status?: RunStatus | undefined;
}

/** Lists runs, newest first. */
export async function listRuns(db: Kysely<Tables>, filter: RunFilter = {}): Promise<Page<Run>> {
  const limit = pageLimit(filter.limit);
  const before = textCursor(filter.cursor);
  const { agentId, status } = filter;
  if (agentId !== undefined && !isId(agentId)) return { items: [] };
  let query = withAgent(db);
  if (agentId !== undefined) query = query.where('threads.agent_id', '=', agentId);
  if (status !== undefined) query = query.where('runs.status', '=', status);
  if (before !== undefined) query = query.where('runs.id', '<', before);
  const rows = await query
    .orderBy('runs.id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toRun });
}

export async function getRun(db: Kysely<Tables>, runId: string): Promise<Run> {
  const row = isId(runId) ? await withAgent(db).where('runs.id', '=', runId).executeTakeFirst() : undefined;
  if (row !== undefined) return toRun(row);
  const queued = await findQueued(db, runId);
  if (queued === undefined) throw notFound('run', runId);
  return toQueuedRun(queued);
}

function withAgent(db: Kysely<Tables>) {
  return db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .leftJoin('nested_usage', 'nested_usage.run_id', 'runs.id')
    .selectAll('runs')
    .select(['threads.agent_id', 'nested_usage.input_tokens', 'nested_usage.output_tokens'])
    .select('nested_usage.total_tokens');
}

function toQueuedRun({ runId, agentId, threadId, eventId, isDead, createdAt }: QueuedRun): Run {
  const trigger = [{ eventId, type: 'chat' }];
  const status = isDead ? 'cancelled' : 'queued';
  return { id: runId, agentId, threadId, cycle: 0, status, trigger, configVersion: 0, createdAt };
}

interface ReadRun extends RunRow {
  readonly agent_id: string;
  /** Of its sub-agents. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
}

/** What the run cost, with its sub-agents. */
function usageOf({ usage, input_tokens, output_tokens, total_tokens }: ReadRun): unknown {
  const own = usage === null ? undefined : fromJson<Usage | null>(usage);
  if (total_tokens === null) return own;
  return {
    inputTokens: (own?.inputTokens ?? 0) + (input_tokens ?? 0),
    outputTokens: (own?.outputTokens ?? 0) + (output_tokens ?? 0),
    totalTokens: (own?.totalTokens ?? 0) + (total_tokens ?? 0),
  };
}

function toRun(row: ReadRun): Run {
  const usage = usageOf(row);
  return {
    id: row.id,
    agentId: row.agent_id,
    threadId: row.thread_id,
    cycle: row.cycle_no,
    status: row.status,
    trigger: fromJson(row.trigger),
    ...(row.stop === null ? {} : { stop: fromJson(row.stop) }),
    ...(usage === undefined ? {} : { usage }),
    configVersion: row.config_version,
    ...(row.cancel_requested_at === null ? {} : { cancelRequestedAt: row.cancel_requested_at }),
    createdAt: row.created_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
