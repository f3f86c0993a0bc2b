import type { Stop, Usage } from '@lastcall/core';
import { addUsage, noUsage } from '@lastcall/core/internal';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { InboxEventType, RunRow, Tables } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import type { CountedStatus } from '../calls/call-status.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { type Trial, type TrialRow, trialOf } from '../forks/trial.ts';
import { EVERYTHING, throughAgents, type View } from '../projects/view.ts';
import { findQueued, type QueuedRun } from './queued-run.ts';
import { hasStatus, type ListedStatus, SHOWN_STATUS, type ShownStatus } from './run-status.ts';
import type { Takeover } from './takeover.ts';

/** One run of a thread: the events that it took, and how it ended. */
export interface Run {
  readonly id: string;
  readonly agentId: string;
  readonly threadId: string;
  /** Counts 1, 2, 3 … within the thread. */
  readonly number: number;
  /**
   * `queued`: it has not started: its request, or the answers it takes, still wait. `waiting`: it has stopped, and a call of it waits
   * for an answer.
   */
  readonly status: ShownStatus;
  readonly trigger: readonly RunTrigger[];
  /** Why it ended. */
  readonly stop?: Stop;
  /** Tokens, including those of its sub-agents. */
  readonly usage?: Usage;
  readonly configVersion: number;
  /** The mode that the agent was in, if its definition has modes. */
  readonly mode?: string;
  /** The number of attempts for its events, including this one. */
  readonly attempt: number;
  /** The run that tried them before. */
  readonly retryOf?: string;
  /** The worker of a gateway that runs it, or ran it last. */
  readonly worker?: string;
  /** When another worker continued it, oldest first. */
  readonly takeovers?: readonly Takeover[];
  /** Set for a run of a fork or a draft. */
  readonly trial?: Trial;
  readonly cancelRequestedAt?: number;
  readonly createdAt: number;
  readonly endedAt?: number;
}

/** An event that woke the agent. */
export interface RunTrigger {
  readonly eventId: string;
  readonly type: InboxEventType;
}

export interface RunFilter extends PageOptions {
  readonly agentId?: string | undefined;
  /** Only runs of this conversation. */
  readonly contextId?: string | undefined;
  readonly status?: ListedStatus | undefined;
  /** Why it stopped. */
  readonly stop?: string | undefined;
  /** Only runs that called this tool. */
  readonly toolName?: string | undefined;
  /** Only runs with a call of this status. With `toolName`: a call of that tool. */
  readonly outcome?: CountedStatus | undefined;
  /** Only runs that wrote in this space, or showed a call there. */
  readonly spaceId?: string | undefined;
  /** Only the runs that this event woke. */
  readonly eventId?: string | undefined;
  /** Created at or after this time, and before that one. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
}

/** Lists runs, newest first. */
export async function listRuns(db: Kysely<Tables>, filter: RunFilter = {}): Promise<Page<Run>> {
  const limit = pageLimit(filter.limit);
  const before = textCursor(filter.cursor);
  if ([filter.agentId, filter.contextId, filter.spaceId, filter.eventId].some((id) => id !== undefined && !isId(id)))
    return { items: [] };
  let query = selectMatching(db, filter);
  if (before !== undefined) query = query.where('runs.id', '<', before);
  const rows = await query
    .orderBy('runs.id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toRun });
}

function selectMatching(db: Kysely<Tables>, filter: RunFilter) {
  const { agentId, contextId, status, stop, toolName, outcome, spaceId, eventId, since, until } = filter;
  // The condition decides it. SQLite would look it up for each matching run, and not only for those of the page.
  const shown = status === undefined ? SHOWN_STATUS : sql.lit(status);
  let query = withAgent(db, shown).where(throughAgents(filter.view ?? EVERYTHING, 'threads.agent_id'));
  if (agentId !== undefined) query = query.where('threads.agent_id', '=', agentId);
  if (contextId !== undefined)
    query = query.where('runs.thread_id', '=', contextId).where('threads.kind', '=', 'context');
  if (status !== undefined) query = query.where(hasStatus(status));
  if (since !== undefined) query = query.where('runs.created_at', '>=', since);
  if (until !== undefined) query = query.where('runs.created_at', '<', until);
  // The column contains our own JSON, which has no spaces. `like` would match any character for an underscore.
  if (stop !== undefined) {
    const start = `{"reason":${toJson(stop)}`;
    query = query.where(sql`substr(runs.stop, 1, ${start.length})`, '=', start);
  }
  if (eventId !== undefined)
    query = query.where(
      sql`replace(runs.trigger, ${`"eventId":${toJson(eventId)},`}, '')`,
      '!=',
      sql.ref('runs.trigger'),
    );
  if (spaceId !== undefined)
    query = query.where('runs.id', 'in', (eb) =>
      eb
        .selectFrom('messages')
        .select('messages.run_id')
        .where('messages.space_id', '=', spaceId)
        .$castTo<{ run_id: string }>(),
    );
  if (toolName !== undefined || outcome !== undefined)
    query = query.where((eb) => {
      let calls = eb
        .selectFrom('calls')
        .select('calls.id')
        .whereRef('calls.run_id', '=', 'runs.id')
        // A question that a tool asked during its call is no call of the run.
        .where('calls.during_call', 'is', null);
      if (toolName !== undefined) calls = calls.where('calls.tool_name', '=', toolName);
      if (outcome === 'running') calls = calls.where('calls.outcome_status', 'is', null);
      else if (outcome !== undefined) calls = calls.where('calls.outcome_status', '=', outcome);
      return eb.exists(calls);
    });
  return query;
}

/** Those of the runs that have begun, newest first. */
export async function getRuns(db: Kysely<Tables>, ids: readonly string[]): Promise<readonly Run[]> {
  if (ids.length === 0) return [];
  const rows = await withAgent(db).where('runs.id', 'in', ids).orderBy('runs.id', 'desc').execute();
  return rows.map(toRun);
}

export async function getRun(db: Kysely<Tables>, runId: string): Promise<Run> {
  const row = isId(runId) ? await withAgent(db).where('runs.id', '=', runId).executeTakeFirst() : undefined;
  if (row !== undefined) return toRun(row);
  const queued = await findQueued(db, runId);
  if (queued === undefined) throw notFound('run', runId);
  return toQueuedRun(queued);
}

function withAgent(db: Kysely<Tables>, shown: RawBuilder<ListedStatus> = SHOWN_STATUS) {
  return db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .leftJoin('nested_usage', 'nested_usage.run_id', 'runs.id')
    .leftJoin('forks', 'forks.thread_id', 'runs.thread_id')
    .selectAll('runs')
    .select(shown.as('shown_status'))
    .select(['threads.agent_id', 'nested_usage.input_tokens', 'nested_usage.output_tokens'])
    .select(['forks.at_step', 'forks.origin_run_id'])
    .select(['nested_usage.total_tokens', 'nested_usage.cached_tokens'])
    .select(['nested_usage.reasoning_tokens', 'nested_usage.estimated']);
}

function toQueuedRun({ runId, agentId, threadId, trigger, isDead, createdAt }: QueuedRun): Run {
  const status = isDead ? 'cancelled' : 'queued';
  return { id: runId, agentId, threadId, number: 0, status, trigger, configVersion: 0, attempt: 0, createdAt };
}

interface ReadRun extends RunRow, TrialRow {
  readonly shown_status: ListedStatus;
  readonly agent_id: string;
  /** The tokens of its sub-agents. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly estimated: number | null;
}

/** The tokens of the run, including its sub-agents. */
function usageOf({
  usage,
  input_tokens,
  output_tokens,
  total_tokens,
  cached_tokens,
  reasoning_tokens,
  estimated,
}: ReadRun): Usage | undefined {
  const own = usage === null ? undefined : (fromJson<Usage | null>(usage) ?? undefined);
  if (total_tokens === null) return own;
  const nested: Usage = {
    inputTokens: input_tokens ?? 0,
    outputTokens: output_tokens ?? 0,
    totalTokens: total_tokens,
    ...(cached_tokens === null || cached_tokens === 0 ? {} : { cachedTokens: cached_tokens }),
    ...(reasoning_tokens === null || reasoning_tokens === 0 ? {} : { reasoningTokens: reasoning_tokens }),
    ...(estimated === 1 ? { estimated: true } : {}),
  };
  return addUsage(own ?? noUsage, nested);
}

function toRun(row: ReadRun): Run {
  const usage = usageOf(row);
  return {
    id: row.id,
    agentId: row.agent_id,
    threadId: row.thread_id,
    number: row.number,
    status: row.shown_status,
    trigger: fromJson<RunTrigger[]>(row.trigger),
    ...(row.stop === null ? {} : { stop: fromJson<Stop>(row.stop) }),
    ...(usage === undefined ? {} : { usage }),
    configVersion: row.config_version,
    ...(row.mode === null ? {} : { mode: row.mode }),
    attempt: row.attempt,
    ...(row.retry_of === null ? {} : { retryOf: row.retry_of }),
    ...(row.owner === null ? {} : { worker: row.owner }),
    ...(row.takeovers === null ? {} : { takeovers: fromJson<Takeover[]>(row.takeovers) }),
    ...trialOf(row),
    ...(row.cancel_requested_at === null ? {} : { cancelRequestedAt: row.cancel_requested_at }),
    createdAt: row.created_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
