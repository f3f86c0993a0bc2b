import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { RunRow, Tables } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';
import { answersTo } from './continued-by.ts';
import { findQueued } from './queued-run.ts';
import type { RunTrigger } from './run.ts';

/** The runs of a task beyond these are not looked for. */
const MOST_RUNS = 300;
/** The turn of a conversation goes on in one of its next runs. */
const MOST_BETWEEN = 50;

/** What links a run to the others of its task. */
interface LinkedRun {
  readonly id: string;
  readonly threadId: string;
  /** Undefined for a run that has not begun. */
  readonly turnId?: string;
  readonly number?: number;
  readonly trigger: readonly RunTrigger[];
  readonly retryOf?: string;
}

export interface StoryRuns {
  /** In the order in which they were found, beginning with the run that began the task. */
  readonly ids: readonly string[];
  /** True if there may be more. */
  readonly isCut: boolean;
}

/**
 * The runs of a task: the one that its words woke, those that took the answers to its calls, and the further attempts of those that failed.
 * They are linked by the events that they took, so nothing is stored for it.
 */
export async function storyRuns(db: Kysely<Tables>, runId: string): Promise<StoryRuns> {
  const found = new Map<string, LinkedRun>();
  const first = await firstOf(db, runId);
  if (first === undefined) return { ids: [runId], isCut: false };
  found.set(first.id, first);
  for (const run of found.values()) {
    for (const id of await runsAfter(db, run)) {
      if (found.has(id)) continue;
      if (found.size === MOST_RUNS) return { ids: [...found.keys()], isCut: true };
      const next = await findLinked(db, id);
      if (next !== undefined) found.set(id, next);
    }
  }
  return { ids: [...found.keys()], isCut: false };
}

async function firstOf(db: Kysely<Tables>, runId: string): Promise<LinkedRun | undefined> {
  let run = await findLinked(db, runId);
  const seen = new Set<string>();
  // One less than are followed forwards, so that the run itself is always among its own story.
  while (run !== undefined && seen.size < MOST_RUNS - 1) {
    seen.add(run.id);
    const before = await runBefore(db, run);
    const earlier = before === undefined || seen.has(before) ? undefined : await findLinked(db, before);
    if (earlier === undefined) return run;
    run = earlier;
  }
  return run;
}

async function findLinked(db: Kysely<Tables>, id: string): Promise<LinkedRun | undefined> {
  const row = isId(id)
    ? await db
        .selectFrom('runs')
        .select(['id', 'thread_id', 'turn_id', 'number', 'trigger', 'retry_of'])
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined;
  if (row !== undefined) return toLinked(row);
  const queued = await findQueued(db, id);
  return queued === undefined ? undefined : { id, threadId: queued.threadId, trigger: queued.trigger };
}

function toLinked(row: Pick<RunRow, 'id' | 'thread_id' | 'turn_id' | 'number' | 'trigger' | 'retry_of'>): LinkedRun {
  const trigger = fromJson<RunTrigger[]>(row.trigger);
  const retryOf = row.retry_of === null ? {} : { retryOf: row.retry_of };
  return { id: row.id, threadId: row.thread_id, turnId: row.turn_id, number: row.number, trigger, ...retryOf };
}

/** The earlier attempt, the run whose call was answered, or the run that began the turn. */
async function runBefore(db: Kysely<Tables>, run: LinkedRun): Promise<string | undefined> {
  if (run.retryOf !== undefined) return run.retryOf;
  const callIds = run.trigger.flatMap(({ type, eventId }) =>
    type === 'tool_result' ? [eventId.split(':')[1] ?? ''] : [],
  );
  const asked =
    callIds.length === 0
      ? undefined
      : await db
          .selectFrom('calls')
          .select('run_id')
          .where('id', 'in', callIds)
          .where('thread_id', '=', run.threadId)
          .orderBy('id')
          .limit(1)
          .executeTakeFirst();
  if (asked !== undefined) return asked.run_id;
  return run.turnId === run.id ? undefined : run.turnId;
}

async function runsAfter(db: Kysely<Tables>, run: LinkedRun): Promise<readonly string[]> {
  const { id, threadId, turnId, number } = run;
  if (turnId === undefined || number === undefined) return [];
  // The events of a failed run are taken again, by its next attempt.
  const eventIds = [...(await answersTo(db, id)), ...run.trigger.map(({ eventId }) => eventId)];
  const taken = await takersOf(db, run, [...new Set(eventIds)]);
  const attempts = await attemptsOf(db, taken);
  const sameTurn = await db
    .selectFrom('runs')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('turn_id', '=', turnId)
    .where('number', '>', number)
    // The turn goes on in the next run that is saved. An agent has many later runs, which all begin new turns.
    .where('number', '<=', number + MOST_BETWEEN)
    .execute();
  return [...attempts, ...taken, ...sameTurn.map((next) => next.id)];
}

/** The other runs that took these events. */
async function takersOf(
  db: Kysely<Tables>,
  { id, threadId }: LinkedRun,
  eventIds: readonly string[],
): Promise<readonly string[]> {
  if (eventIds.length === 0) return [];
  const events = await db
    .selectFrom('inbox_events')
    .select('run_id')
    .where('thread_id', '=', threadId)
    .where('event_id', 'in', eventIds)
    .where('run_id', 'is not', null)
    .where('run_id', '!=', id)
    .orderBy('id')
    .execute();
  return events.flatMap(({ run_id }) => run_id ?? []);
}

/** An event names the last run that took it. The attempts before it are found backwards. */
async function attemptsOf(db: Kysely<Tables>, last: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const id of new Set(last)) {
    let run = await findLinked(db, id);
    while (run?.retryOf !== undefined && !found.includes(run.retryOf) && found.length < MOST_BETWEEN) {
      found.unshift(run.retryOf);
      run = await findLinked(db, run.retryOf);
    }
  }
  return found;
}
