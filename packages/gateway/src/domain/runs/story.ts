import type { Answer } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { ModelPrices } from '../../config/prices.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables, WaitKind } from '../../ports/store/schema/tables.ts';
import { decisionOf } from '../calls/answer-call.ts';
import { nameOfAnswerer } from '../calls/answerer-name.ts';
import { type CallStatus, callStatus } from '../calls/call-status.ts';
import { IS_WAITING } from '../inbox/waiting-events.ts';
import type { CardCall } from '../spaces/card-call.ts';
import { getRun, getRuns, type Run } from './run.ts';
import { getRunDetails, type RunDetails } from './run-details.ts';
import type { ShownStatus } from './run-status.ts';
import { storyRuns } from './story-runs.ts';

/** A task from the words that caused it to its end: its runs, and how long it waited for people. */
export interface Story {
  /** The run that the words woke. */
  readonly id: string;
  readonly status: ShownStatus;
  /** Oldest first. Of a long task, the first run and those around the one that was asked for. */
  readonly runs: readonly RunDetails[];
  readonly waits: readonly StoryWait[];
  readonly startedAt: number;
  /** Missing while it runs or waits. */
  readonly endedAt?: number;
  /** Set if there are more runs than one answer has. */
  readonly truncated?: true;
}

/** How a call of the task waited for an answer. */
interface StoryWait {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  readonly kind: WaitKind;
  readonly status: CallStatus;
  readonly since: number;
  /** When it was answered, expired or was cancelled. */
  readonly until?: number;
  readonly expiresAt?: number;
  readonly decision?: CardCall['decision'];
  /** Set if the input was changed before it was approved. */
  readonly edited?: true;
  /** The name of the person or service that answered. */
  readonly by?: string;
}

/** A longer task is shown in part. Its status is always that of the whole. */
const MOST_SHOWN = 50;

export async function getStory(db: Kysely<Tables>, runId: string, prices?: ModelPrices): Promise<Story> {
  const { ids, isCut } = await storyRuns(db, runId);
  const all = await runsInOrder(db, ids);
  const runs: RunDetails[] = [];
  for (const { id } of shownOf(all, runId)) runs.push(await getRunDetails(db, id, prices));
  const ended = statusOf(all);
  const status = ended === 'failed' && (await isTriedAgain(db, all.at(-1))) ? 'queued' : ended;
  const isOver = status !== 'running' && status !== 'queued' && status !== 'waiting';
  const endedAt = isOver ? Math.max(...all.map((run) => run.endedAt ?? run.createdAt)) : undefined;
  const shown = runs.map(({ id }) => id);
  return {
    id: ids[0] ?? runId,
    status,
    runs,
    waits: await waitsOf(db, shown),
    startedAt: Math.min(...all.map(({ createdAt }) => createdAt)),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(isCut || shown.length < all.length ? { truncated: true } : {}),
  };
}

async function runsInOrder(db: Kysely<Tables>, ids: readonly string[]): Promise<readonly Run[]> {
  const begun = await getRuns(db, ids);
  const known = new Set(begun.map(({ id }) => id));
  const queued: Run[] = [];
  for (const id of ids) if (!known.has(id)) queued.push(await getRun(db, id));
  return [...begun, ...queued].toSorted((a, b) => a.createdAt - b.createdAt || a.number - b.number);
}

/** The run that began the task, and as many around this one as there is place for. */
function shownOf(all: readonly Run[], runId: string): readonly Run[] {
  if (all.length <= MOST_SHOWN) return all;
  const [first, ...others] = all;
  const at = others.findIndex(({ id }) => id === runId);
  const most = MOST_SHOWN - 1;
  const from = Math.min(Math.max(at - Math.floor(most / 2), 0), others.length - most);
  return [...(first === undefined ? [] : [first]), ...others.slice(from, from + most)];
}

/** A task is at work as long as one of its runs is, and then waits as long as one of its calls does. Else it ended as its last run did. */
function statusOf(runs: readonly Run[]): ShownStatus {
  const open = (['running', 'queued', 'waiting'] as const).find((status) => runs.some((run) => run.status === status));
  return open ?? runs.at(-1)?.status ?? 'completed';
}

/** True if an event of the failed run waits for its next attempt, or was redriven. */
async function isTriedAgain(db: Kysely<Tables>, run: Run | undefined): Promise<boolean> {
  const eventIds = run?.trigger.map(({ eventId }) => eventId) ?? [];
  if (run === undefined || eventIds.length === 0) return false;
  const waiting = await db
    .selectFrom('inbox_events')
    .select('id')
    .where('thread_id', '=', run.threadId)
    .where('event_id', 'in', eventIds)
    .where(IS_WAITING)
    .limit(1)
    .executeTakeFirst();
  return waiting !== undefined;
}

async function waitsOf(db: Kysely<Tables>, runIds: readonly string[]): Promise<readonly StoryWait[]> {
  const rows = await db
    .selectFrom('calls')
    .selectAll()
    .where('run_id', 'in', runIds)
    .where('wait_kind', 'is not', null)
    .where('during_call', 'is', null)
    .orderBy('waiting_since')
    .orderBy('id')
    .execute();
  return await Promise.all(
    rows.map(async (row) => ({
      callId: row.id,
      runId: row.run_id,
      toolName: row.tool_name,
      kind: row.wait_kind as WaitKind,
      status: callStatus(row),
      since: row.waiting_since ?? row.created_at,
      ...(row.answered_at === null ? {} : { until: row.answered_at }),
      ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
      ...(row.answer === null ? {} : decisionFields(fromJson<Answer>(row.answer))),
      ...(row.answered_by === null ? {} : { by: await nameOfAnswerer(db, row.answered_by) }),
    })),
  );
}

function decisionFields(answer: Answer): Pick<StoryWait, 'decision' | 'edited'> {
  const isEdited = 'approve' in answer && answer.input !== undefined;
  return { decision: decisionOf(answer), ...(isEdited ? { edited: true } : {}) };
}
