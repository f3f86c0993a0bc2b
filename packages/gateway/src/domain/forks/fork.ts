import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { ForkRow, Json, Tables } from '../../ports/store/schema/tables.ts';
import type { Situation } from '../agents/describe-agent.ts';
import type { ModelSettings } from '../conversations/turn-settings.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import type { ChangedNodes } from './changed-nodes.ts';
import type { ChangedOutcome } from './changed-outcome.ts';
import { DRAFT_STEP, type DraftDetails } from './draft.ts';

/** What is different in a fork. */
export interface ForkChanges {
  readonly instructions?: string | undefined;
  readonly model?: string | readonly string[] | undefined;
  /** They replace those of the same name. */
  readonly settings?: ModelSettings | undefined;
  /** A message of a person that is added before the request of the step. */
  readonly message?: string | undefined;
  /** By the ids of calls of the original run. */
  readonly outcomes?: Readonly<Record<string, ChangedOutcome>> | undefined;
  /** The tools of the agent, as in its configuration. */
  readonly tools?: readonly unknown[] | undefined;
  /** Of a machine: by the names of its nodes. */
  readonly nodes?: ChangedNodes | undefined;
  /** Set for a draft, which has nothing else but `nodes`. */
  readonly draft?: DraftDetails | undefined;
}

/** A conversation that continues a run from one of its steps. */
export interface Fork {
  readonly contextId: string;
  readonly runId: string;
  readonly originRunId: string;
  readonly originThreadId: string;
  readonly originKind: ForkRow['origin_kind'];
  readonly atStep: number;
  readonly baseSeq: number;
  readonly number: number;
  readonly mode: string | null;
  readonly configVersion: number;
  readonly config: Json;
  readonly changes: ForkChanges;
  /** Set for the fork of an agent's run. */
  readonly situation: Situation | undefined;
  readonly asOf: number;
  readonly createdAt: number;
}

/** What a run of a fork tells about it. */
export interface ForkedFrom {
  /** The run that it was forked from. */
  readonly runId: string;
  readonly atStep: number;
  readonly changes: ForkChanges;
}

/** A fork in the list of those of a run. */
export interface ListedFork {
  readonly runId: string;
  readonly contextId: string;
  readonly atStep: number;
  readonly changes: ForkChanges;
  readonly createdAt: number;
}

/** Undefined if the conversation is no fork. */
export async function findFork(db: Kysely<Tables>, threadId: string): Promise<Fork | undefined> {
  const row = await db.selectFrom('forks').selectAll().where('thread_id', '=', threadId).executeTakeFirst();
  return row === undefined ? undefined : toFork(row);
}

/** Undefined if the conversation is no draft. */
export async function findDraft(db: Kysely<Tables>, threadId: string): Promise<Fork | undefined> {
  const found = await findFork(db, threadId);
  return found?.atStep === DRAFT_STEP ? found : undefined;
}

/** What a run of a conversation tells about the fork or the draft that the conversation is. */
export async function forkOrDraft(
  db: Kysely<Tables>,
  threadId: string,
): Promise<{ readonly fork?: ForkedFrom; readonly draft?: DraftDetails }> {
  const found = await findFork(db, threadId);
  if (found === undefined) return {};
  const { originRunId: runId, atStep, changes } = found;
  if (atStep !== DRAFT_STEP) return { fork: { runId, atStep, changes } };
  const { draft, nodes } = changes;
  return { draft: { changes: {}, ...draft, ...(nodes === undefined ? {} : { nodes }) } };
}

export async function isForkThread(db: Kysely<Tables>, threadId: string): Promise<boolean> {
  const thread = db.selectFrom('threads').select('is_fork').where('id', '=', threadId);
  return (await thread.executeTakeFirst())?.is_fork === 1;
}

/** Lists the forks of a run, newest first. */
export async function listForks(
  db: Kysely<Tables>,
  originRunId: string,
  page: PageOptions = {},
): Promise<Page<ListedFork>> {
  const limit = pageLimit(page.limit);
  const before = textCursor(page.cursor);
  let query = db
    .selectFrom('forks')
    .selectAll()
    .where('origin_run_id', '=', originRunId)
    .where('at_step', '>', DRAFT_STEP);
  if (before !== undefined) query = query.where('thread_id', '<', before);
  const rows = await query
    .orderBy('thread_id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ thread_id }) => thread_id, toItem: toListed });
}

function toListed({ run_id, thread_id, at_step, changes, created_at }: ForkRow): ListedFork {
  return {
    runId: run_id,
    contextId: thread_id,
    atStep: at_step,
    changes: fromJson<ForkChanges>(changes),
    createdAt: created_at,
  };
}

function toFork(row: ForkRow): Fork {
  return {
    contextId: row.thread_id,
    runId: row.run_id,
    originRunId: row.origin_run_id,
    originThreadId: row.origin_thread_id,
    originKind: row.origin_kind,
    atStep: row.at_step,
    baseSeq: row.base_seq,
    number: row.number,
    mode: row.mode,
    configVersion: row.config_version,
    config: row.config,
    changes: fromJson<ForkChanges>(row.changes),
    situation: row.situation === null ? undefined : fromJson<Situation>(row.situation),
    asOf: row.as_of,
    createdAt: row.created_at,
  };
}
