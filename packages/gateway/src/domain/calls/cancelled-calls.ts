import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { chunks } from '../chunks.ts';

/** Those of the calls that were cancelled while they waited: no answer to them will come. */
export async function cancelledCalls(db: Kysely<Tables>, callIds: readonly string[]): Promise<readonly string[]> {
  const cancelled: string[] = [];
  for (const few of chunks(callIds, 500)) {
    const rows = await db
      .selectFrom('calls')
      .select('id')
      .where('id', 'in', few)
      .where('wait_status', '=', 'cancelled')
      .execute();
    cancelled.push(...rows.map(({ id }) => id));
  }
  return cancelled;
}
