import { type Kysely, type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import { nowOrLater } from '../../ports/store/now-or-later.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { InboxEventRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Param } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';

export type EventRow = Selectable<InboxEventRow>;

/** How many events are read before the agent's own limit is known. Most inboxes contain fewer. */
export const FIRST_PAGE = 50;

/**
 * The condition for events that wait for a run. The value is part of the SQL text and not a parameter, because
 * otherwise the partial indexes on waiting events would not be used.
 */
export const IS_WAITING: RawBuilder<boolean> = sql<boolean>`inbox_events.status = 'pending'`;

/** Reads more events, for an agent whose limit is larger than the first page. */
export async function waitingEvents(tx: Tx, threadId: string, limit: number): Promise<EventRow[]> {
  return await selectWaiting(tx.db, { threadId, now: tx.now() }).limit(limit).execute();
}

/** The values of the query: parameters where it is compiled once, plain values where it is built each time. */
interface WaitingQuery {
  readonly threadId: string | Param<string>;
  readonly now: number | Param<number>;
}

/** The waiting events of a thread, in the order in which runs take them. */
export function selectWaiting(
  db: Kysely<Tables>,
  { threadId, now }: WaitingQuery,
): SelectQueryBuilder<Tables, 'inbox_events', EventRow> {
  return (
    db
      .selectFrom('inbox_events')
      .select(COLUMNS.inbox_events)
      .where('thread_id', '=', threadId)
      .where(IS_WAITING)
      // The statement may wait for the holder of the thread. It then also finds events that arrived in the meantime.
      .where('available_at', '<=', nowOrLater(db, now))
      .orderBy('priority')
      .orderBy('id')
  );
}
