import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/json.ts';
import type { Tables } from '../../ports/store/tables.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';

/*
 * A turn with calls that wait is suspended, and their answers continue it in another run. So a turn has one run or several. A run
 * that begins a turn has the turn's entry in the transcript; one that continues it has none.
 */

/** The runs of the turn that this run belongs to, in order, including queued ones. */
export async function runsOfTurn(db: Kysely<Tables>, contextId: string, runId: string): Promise<readonly string[]> {
  const turns = toTurns(await runsSince(db, contextId, runId));
  return turns.find((runs) => runs.includes(runId)) ?? [runId];
}

/** The runs of the newest turn, which may be queued. Empty if there is none yet. */
export async function runsOfLatestTurn(db: Kysely<Tables>, contextId: string): Promise<readonly string[]> {
  return toTurns(await runsSince(db, contextId)).at(-1) ?? [];
}

interface TurnRun {
  readonly runId: string;
  readonly beginsTurn: boolean;
}

/** Queued runs are read first: one that begins in between is in both lists, and never in none. */
async function runsSince(db: Kysely<Tables>, contextId: string, runId?: string): Promise<readonly TurnRun[]> {
  const queued = await queuedRuns(db, contextId);
  const begun = await begunSince(db, contextId, runId);
  const known = new Set(begun.map((run) => run.runId));
  return [...begun, ...queued.filter((run) => !known.has(run.runId))];
}

function toTurns(runs: readonly TurnRun[]): readonly (readonly string[])[] {
  const turns: string[][] = [];
  for (const { runId, beginsTurn } of runs) {
    const last = turns.at(-1);
    if (beginsTurn || last === undefined) turns.push([runId]);
    else last.push(runId);
  }
  return turns;
}

/** The runs from the first run of this run's turn on. Default: the turn of the newest run. */
async function begunSince(db: Kysely<Tables>, contextId: string, runId?: string): Promise<readonly TurnRun[]> {
  const start = await beginOfTurn(db, contextId, runId);
  if (start === undefined) return [];
  const rows = await db
    .selectFrom('runs')
    .select(['runs.id', 'runs.cycle_no'])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('transcript_entries')
            .select('seq')
            .whereRef('transcript_entries.run_id', '=', 'runs.id')
            .where('kind', '=', 'turn'),
        )
        .as('begins'),
    )
    .where('thread_id', '=', contextId)
    .where('cycle_no', '>=', start)
    .orderBy('cycle_no')
    .execute();
  return rows.map(({ id, begins }) => ({ runId: id, beginsTurn: Boolean(begins) }));
}

async function beginOfTurn(db: Kysely<Tables>, contextId: string, runId?: string): Promise<number | undefined> {
  const beginnings = db
    .selectFrom('transcript_entries')
    .innerJoin('runs', 'runs.id', 'transcript_entries.run_id')
    .select('runs.cycle_no')
    .where('transcript_entries.thread_id', '=', contextId)
    .where('transcript_entries.kind', '=', 'turn')
    .orderBy('transcript_entries.seq', 'desc')
    .limit(1);
  if (runId === undefined) return (await beginnings.executeTakeFirst())?.cycle_no;
  const run = await db
    .selectFrom('runs')
    .select('cycle_no')
    .where('id', '=', runId)
    .where('thread_id', '=', contextId)
    .executeTakeFirst();
  // A run that has not begun continues the newest turn, or begins a new one.
  if (run === undefined) return (await beginnings.executeTakeFirst())?.cycle_no;
  return (await beginnings.where('runs.cycle_no', '<=', run.cycle_no).executeTakeFirst())?.cycle_no ?? run.cycle_no;
}

async function queuedRuns(db: Kysely<Tables>, contextId: string): Promise<readonly TurnRun[]> {
  const rows = await db
    .selectFrom('inbox_events')
    .select(['run_id', 'payload'])
    .where('agent_id', '=', contextId)
    .where('type', '=', 'chat')
    .where('status', '=', 'pending')
    .orderBy('id')
    .execute();
  return rows.flatMap(({ run_id, payload }) => {
    const event = fromJson<InboxEvent>(payload);
    if (run_id === null || event.type !== 'chat') return [];
    return [{ runId: run_id, beginsTurn: event.isAnswer !== true }];
  });
}
