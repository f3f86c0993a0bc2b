import type { Kysely } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

const KEY = 'index';

/** How far the index is. */
export interface SearchState {
  /** The last ended run that was added. */
  readonly runsTo?: RunPlace;
  /** Ended runs up to here were looked at a second time: a transaction may commit after another one with a later time. */
  readonly checkedTo?: RunPlace;
  /** Everything that was stored before this time is in the index. */
  readonly completeTo?: number;
}

export interface RunPlace {
  readonly endedAt: number;
  readonly id: string;
}

/**
 * Reads the state and keeps it locked, so that only one gateway at a time adds to the index. Undefined if another gateway does, unless `wait` is
 * set.
 */
export async function lockState(tx: Tx, { wait }: { readonly wait: boolean }): Promise<SearchState | undefined> {
  const row = tx.db.selectFrom('search_state').select('value').where('key', '=', KEY).forUpdate();
  const found = await (wait ? row : row.skipLocked()).executeTakeFirst();
  return found === undefined ? undefined : fromJson<SearchState>(found.value);
}

export async function readState(db: Kysely<Tables>): Promise<SearchState> {
  const row = await db.selectFrom('search_state').select('value').where('key', '=', KEY).executeTakeFirst();
  return row === undefined ? {} : fromJson<SearchState>(row.value);
}

export async function writeState(tx: Tx, state: SearchState): Promise<void> {
  await tx.db
    .updateTable('search_state')
    .set({ value: toJson(state) })
    .where('key', '=', KEY)
    .execute();
}
