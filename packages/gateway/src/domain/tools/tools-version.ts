import { sql } from 'kysely';
import type { Tx } from '../../ports/store/store.ts';

/** The key of the setting that counts the changes of the registry. */
export const TOOLS_VERSION = 'tools_version';

/**
 * Counts a change of the registry. Every claim of a run reads the number, so all gateways notice the change without a
 * notification. Changes happen one at a time, because each locks the number first.
 */
export async function countToolChange(tx: Tx): Promise<void> {
  await tx.db
    .insertInto('settings')
    .values({ key: TOOLS_VERSION, value: '1' })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({ value: sql`cast(cast(settings.value as bigint) + 1 as text)` }),
    )
    .execute();
}
