import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { type Page, type PageOptions, pageLimit, textCursor } from '../entities/page.ts';
import { getRunDetails, type RunDetails } from '../runs/run-details.ts';
import { toReadable } from '../transcript/readable-frames.ts';
import type { EntryRecord } from '../transcript/transcript-row.ts';

/** What a run was asked to do, and what it answered. */
export interface Task {
  readonly runId: string;
  readonly status: string;
  /** What people, plans and services said to the agent. */
  readonly input: string;
  /** Absent if the run had no response. */
  readonly response?: string;
  /** The calls that it made, in order. */
  readonly calls: readonly { readonly toolName: string; readonly status: string }[];
  readonly tokens?: number;
  readonly createdAt: number;
}

/** The task that a run began. If it waited for answers, the response is that of the last run of its turn. */
export async function taskOf(db: Kysely<Tables>, runId: string): Promise<Task> {
  const first = await getRunDetails(db, runId);
  const later = await db
    .selectFrom('runs')
    .select('id')
    // An index has the runs of a thread by their numbers. No index has turns.
    .where('thread_id', '=', first.threadId)
    .where('number', '>', first.number)
    .where('turn_id', '=', first.id)
    .orderBy('number')
    .execute();
  const runs: RunDetails[] = [first];
  for (const { id } of later) runs.push(await getRunDetails(db, id));
  const { response, status } = runs.at(-1) as RunDetails;
  const tokens = runs.flatMap(({ usage }) => usage?.totalTokens ?? []);
  return {
    ...{ runId: first.id, status, input: await inputOf(db, first), createdAt: first.createdAt },
    calls: await callsOf(
      db,
      runs.map(({ id }) => id),
    ),
    ...(response === undefined ? {} : { response }),
    ...(tokens.length === 0 ? {} : { tokens: tokens.reduce((sum, one) => sum + one, 0) }),
  };
}

async function inputOf(db: Kysely<Tables>, { id, trigger }: RunDetails): Promise<string> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', id)
    .where('kind', '=', 'message')
    .orderBy('seq')
    .execute();
  const said = rows.flatMap(({ payload }) => textsOf(toReadable(fromJson<EntryRecord>(payload).entry))).join('\n');
  return said.trim() === '' ? trigger.map(({ text = '' }) => text).join('\n') : said.trim();
}

/** The texts of people: of a message, or of the events of an inbox. */
function textsOf(entry: EntryRecord['entry']): readonly string[] {
  const { role, content } = (entry.kind === 'message' ? entry.message : {}) as {
    readonly role?: unknown;
    readonly content?: unknown;
  };
  if (role !== 'user' || !Array.isArray(content)) return [];
  return content.flatMap((part: { type?: unknown; text?: unknown; events?: unknown }) => {
    if (part.type === 'text' && typeof part.text === 'string') return [part.text];
    const events = (Array.isArray(part.events) ? part.events : []) as { data?: { text?: unknown } }[];
    return events.flatMap(({ data }) => (typeof data?.text === 'string' ? [data.text] : []));
  });
}

async function callsOf(db: Kysely<Tables>, runIds: readonly string[]): Promise<Task['calls']> {
  const rows = await db
    .selectFrom('calls')
    .select(['tool_name', 'outcome_status'])
    .where('run_id', 'in', runIds)
    .where('during_call', 'is', null)
    .orderBy('run_id')
    .orderBy('step')
    .orderBy('index')
    .execute();
  return rows.map(({ tool_name, outcome_status }) => ({ toolName: tool_name, status: outcome_status ?? 'running' }));
}

/**
 * The last tasks of an agent that were completed, newest first. A run that continues a turn after an answer is not
 * another task, and a fork is not one either.
 */
export async function lastTasks(db: Kysely<Tables>, agentId: string, page: PageOptions): Promise<Page<Task>> {
  const limit = pageLimit(page.limit ?? 10);
  const before = textCursor(page.cursor);
  let query = db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .select('runs.id')
    .where('threads.agent_id', '=', agentId)
    .where('threads.is_fork', '=', 0)
    .where('runs.status', '=', 'completed')
    .whereRef('runs.turn_id', '=', 'runs.id');
  if (before !== undefined) query = query.where('runs.id', '<', before);
  const rows = await query
    .orderBy('runs.id', 'desc')
    .limit(limit + 1)
    .execute();
  const items = [];
  for (const { id } of rows.slice(0, limit)) items.push(await taskOf(db, id));
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, next: last.runId } : { items };
}
