import { type RawBuilder, sql } from 'kysely';

/** Of events that wait for a cycle. Part of the text and no value of it: otherwise the indexes of what waits would not be used. */
export const IS_WAITING: RawBuilder<boolean> = sql<boolean>`inbox_events.status = 'pending'`;
