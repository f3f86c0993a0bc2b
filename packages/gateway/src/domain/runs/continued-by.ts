import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Run } from './run.ts';

/**
 * The run that got the first answer to a call that waited in this run. It may still be queued. A suspended run without own calls
 * continued another one, whose calls still wait: then it is the next run of the same turn.
 */
export async function continuedBy(db: Kysely<Tables>, run: Run): Promise<string | undefined> {
  const answered = await firstAnswer(db, run);
  if (answered !== undefined || run.stop?.reason !== 'suspended') return answered;
  const next = await db
    .selectFrom('runs')
    .innerJoin('runs as suspended', 'suspended.turn_id', 'runs.turn_id')
    .select('runs.id')
    .where('suspended.id', '=', run.id)
    .where('runs.thread_id', '=', run.threadId)
    .where('runs.number', '>', run.number)
    .orderBy('runs.number')
    .limit(1)
    .executeTakeFirst();
  return next?.id;
}

async function firstAnswer(db: Kysely<Tables>, { id, threadId }: Run): Promise<string | undefined> {
  const eventIds = await answersTo(db, id);
  if (eventIds.length === 0) return undefined;
  const event = await db
    .selectFrom('inbox_events')
    .select('run_id')
    .where('thread_id', '=', threadId)
    .where('event_id', 'in', eventIds)
    .where('run_id', 'is not', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return event?.run_id ?? undefined;
}

/** The ids of all events that answers to calls of the run have, or would have. */
export async function answersTo(db: Kysely<Tables>, runId: string): Promise<readonly string[]> {
  const calls = await db
    .selectFrom('calls')
    .select(['id', 'rounds'])
    .where('run_id', '=', runId)
    .where('wait_kind', 'is not', null)
    .where('during_call', 'is', null)
    .execute();
  return calls.flatMap(eventsOfCall);
}

/** The events of a call: its decision, the answers to its questions, and its result. */
function eventsOfCall({ id, rounds }: { readonly id: string; readonly rounds: number | null }): readonly string[] {
  const event = `tool_result:${id}`;
  const questions = Array.from({ length: rounds ?? 0 }, (_, index) => `${event}:input:${index + 1}`);
  return [event, `${event}:decision`, ...questions];
}
