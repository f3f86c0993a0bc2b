import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';

const MOST_IDS = 500;

/** Those of the calls that were cancelled while they waited: no answer to them will come. */
export async function cancelledCalls(db: Kysely<Tables>, callIds: readonly string[]): Promise<readonly string[]> {
  const cancelled: string[] = [];
  for (let start = 0; start < callIds.length; start += MOST_IDS) {
    const rows = await db
      .selectFrom('calls')
      .select('id')
      .where('id', 'in', callIds.slice(start, start + MOST_IDS))
      .where('wait_status', '=', 'cancelled')
      .execute();
    cancelled.push(...rows.map(({ id }) => id));
  }
  return cancelled;
}
