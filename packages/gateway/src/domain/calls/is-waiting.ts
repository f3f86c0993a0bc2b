import { type RawBuilder, sql } from 'kysely';

/** The condition of the indexes of calls that wait. The value is written out: with a parameter, PostgreSQL would not use them. */
export const IS_PENDING: RawBuilder<boolean> = sql<boolean>`calls.wait_status = 'pending'`;
