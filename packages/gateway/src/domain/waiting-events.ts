import { type RawBuilder, sql } from 'kysely';

/**
 * The condition for events that wait for a cycle. The value is part of the SQL text and not a parameter, because
 * otherwise the partial indexes on waiting events would not be used.
 */
export const IS_WAITING: RawBuilder<boolean> = sql<boolean>`inbox_events.status = 'pending'`;
