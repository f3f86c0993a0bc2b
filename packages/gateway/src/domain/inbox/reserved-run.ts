import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { InboxEventRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { newId } from '../new-id.ts';
import type { InboxEvent } from './inbox-event.ts';
import { type EventRow, IS_WAITING } from './waiting-events.ts';

/*
 * A client that answers a waiting call is told the run that continues with the answer. That run does not exist yet: it begins when a worker
 * takes the events of the thread. So its id is reserved with the event, and the run that takes the event must have this id, and must
 * take all events with this id. Both sides hold the lock of the thread: an answer never joins a run that has begun.
 */

/** As many as a run takes by default. */
const MOST_TOGETHER = 50;

type Reserved = Pick<InboxEventRow, 'type' | 'attempts' | 'run_id'>;

/** The run that an answer was promised. A second attempt is another run. */
function reservedRunOf({ type, attempts, run_id }: Reserved): string | undefined {
  return type === 'tool_result' && attempts === 0 ? (run_id ?? undefined) : undefined;
}

/** The run that must take these events, if one of them was promised one. */
export function reservedRun(events: readonly Reserved[]): string | undefined {
  return events.map(reservedRunOf).find((runId) => runId !== undefined);
}

/**
 * The id for a run that takes these events, if one was reserved. A run that exists already is never begun again: the thread could
 * then not work at all.
 */
export async function unusedRun({ db }: Pick<Tx, 'db'>, events: readonly Reserved[]): Promise<string | undefined> {
  const runId = reservedRun(events);
  if (runId === undefined) return undefined;
  const begun = await db.selectFrom('runs').select('id').where('id', '=', runId).executeTakeFirst();
  return begun === undefined ? runId : undefined;
}

/** The events that a run may take together: those that were promised another run wait for it. */
export function withoutOtherRuns<E extends Reserved>(events: readonly E[], runId: string): readonly E[] {
  return events.filter((event) => (reservedRunOf(event) ?? runId) === runId);
}

/**
 * Reserves the run that takes the next answer of a thread whose row is locked. It is the run that the waiting answers were promised,
 * or that of a waiting request of the conversation, which takes the answer too, or else a new one.
 */
export async function reserveRun(tx: Tx, threadId: string): Promise<string> {
  const waiting = await tx.db
    .selectFrom('inbox_events')
    .select(['id', 'type', 'attempts', 'run_id'])
    .where('thread_id', '=', threadId)
    .where(IS_WAITING)
    .where('run_id', 'is not', null)
    .where('attempts', '=', 0)
    .orderBy('priority')
    .orderBy('id')
    .execute();
  const requests = waiting.filter(({ type }) => type === 'chat');
  const ofRequests = new Set(requests.map(({ run_id }) => run_id));
  const promised = waiting.flatMap((event) => reservedRunOf(event) ?? []).filter((runId) => !ofRequests.has(runId));
  const newest = promised.at(-1);
  if (newest !== undefined)
    return promised.filter((runId) => runId === newest).length < MOST_TOGETHER ? newest : newId(tx.now());
  const [oldest] = requests;
  return (oldest === undefined ? undefined : await runOfRequest(tx, oldest.id)) ?? newId(tx.now());
}

/** A request that contains answers itself may be cancelled together with them, so no other answer joins it. */
async function runOfRequest(tx: Tx, id: number): Promise<string | undefined> {
  const request = tx.db.selectFrom('inbox_events').select('payload').where('id', '=', id);
  const event = fromJson<InboxEvent>((await request.executeTakeFirstOrThrow()).payload);
  return event.type === 'chat' && event.isAnswer !== true ? event.runId : undefined;
}

/** All waiting events that were promised this run. */
export async function eventsOfReserved(tx: Tx, threadId: string, runId: string): Promise<EventRow[]> {
  return await tx.db
    .selectFrom('inbox_events')
    .select(COLUMNS.inbox_events)
    .where('thread_id', '=', threadId)
    .where('run_id', '=', runId)
    .where(IS_WAITING)
    .orderBy('priority')
    .orderBy('id')
    .execute();
}
