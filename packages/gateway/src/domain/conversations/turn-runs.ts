import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';

/*
 * A turn with calls that wait is suspended, and their answers continue it in another run. So a turn has one run or several: those with
 * its `turn_id`, and requests that wait in the inbox for their start. An answer that waits continues the newest turn.
 */

/** The runs of the turn that this run belongs to, in order, including queued ones. */
export async function runsOfTurn(db: Kysely<Tables>, contextId: string, runId: string): Promise<readonly string[]> {
  const turns = await turnsSince(db, contextId, runId);
  return turns.find((runs) => runs.includes(runId)) ?? [runId];
}

/** The runs of the newest turn, which may be queued. Empty if there is none yet. */
export async function runsOfLatestTurn(db: Kysely<Tables>, contextId: string): Promise<readonly string[]> {
  return (await turnsSince(db, contextId)).at(-1) ?? [];
}

/** The turn of the run and the newest one, each with its runs, and the queued turns. */
async function turnsSince(
  db: Kysely<Tables>,
  contextId: string,
  runId?: string,
): Promise<readonly (readonly string[])[]> {
  // Queued runs are read first: one that begins in between is in both lists, and never in none.
  const queued = await queuedRuns(db, contextId);
  const begun = await begunRuns(db, contextId, runId);
  const known = new Set(begun.map(({ id }) => id));
  const turns = [...Map.groupBy(begun, ({ turn_id: turnId }) => turnId).values()].map((runs) =>
    runs.map(({ id }) => id),
  );
  for (const { id, isAnswer } of queued) {
    if (known.has(id)) continue;
    const newest = turns.at(-1);
    if (isAnswer && newest !== undefined) newest.push(id);
    else turns.push([id]);
  }
  return turns;
}

/**
 * Runs of the turn of this run and of the newest turn. Runs that are not saved belong to no turn. Turns do not overlap, so all runs
 * before the first of the earlier turn are left out.
 */
async function begunRuns(
  db: Kysely<Tables>,
  contextId: string,
  runId?: string,
): Promise<readonly { readonly id: string; readonly turn_id: string }[]> {
  const saved = db
    .selectFrom('runs as saved')
    .select('saved.turn_id')
    .where('saved.thread_id', '=', contextId)
    .where('saved.answer', 'is', null);
  const newest = saved.orderBy('saved.number', 'desc').limit(1);
  const own = runId === undefined ? undefined : saved.where('saved.id', '=', runId);
  return await db
    .selectFrom('runs')
    .select(['id', 'turn_id'])
    .where('thread_id', '=', contextId)
    .where('answer', 'is', null)
    .where('number', '>=', ({ selectFrom, fn }) =>
      selectFrom('runs as first')
        .select('first.number')
        // The run may be queued, or not saved: then it has no turn yet.
        .where('first.id', '=', own === undefined ? newest : fn.coalesce(own, newest)),
    )
    .where((eb) => eb.or([newest, ...(own === undefined ? [] : [own])].map((turn) => eb('turn_id', '=', turn))))
    .orderBy('number')
    .execute();
}

async function queuedRuns(
  db: Kysely<Tables>,
  contextId: string,
): Promise<readonly { readonly id: string; readonly isAnswer: boolean }[]> {
  const rows = await db
    .selectFrom('inbox_events')
    .select(['run_id', 'payload'])
    .where('thread_id', '=', contextId)
    .where('type', '=', 'chat')
    .where('status', '=', 'pending')
    .orderBy('id')
    .execute();
  return rows.flatMap(({ run_id: id, payload }) => {
    const event = fromJson<InboxEvent>(payload);
    return id === null || event.type !== 'chat' ? [] : [{ id, isAnswer: event.isAnswer === true }];
  });
}
