import { LRUCache } from 'lru-cache';
import { isRowMissing, requireRow } from '../../ports/store/require-row.ts';
import type { Params } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { atMost } from '../at-most.ts';
import { type ApiKey, findKey, hasExpired, hashKey } from './api-key.ts';

/**
 * Keys that were valid before. The rights of a key never change, so they are not read again. Every transaction checks that the
 * key is not revoked, without waiting for the result: the transaction fails if it is.
 */
export class KnownKeys {
  readonly #known = new LRUCache<string, ApiKey>(atMost(10_000));

  /** A key that was valid when it was last used, without asking the store. */
  peek(presented: string): ApiKey | undefined {
    const known = this.#known.get(hashKey(presented));
    return known === undefined || hasExpired(known) ? undefined : known;
  }

  /** Returns undefined if there is no such key. `refuse` creates the error for one that was revoked. */
  async find(tx: Tx, presented: string, refuse: () => Error): Promise<ApiKey | undefined> {
    const hash = hashKey(presented);
    const known = this.#known.get(hash);
    if (known !== undefined && hasExpired(known)) return undefined;
    if (known !== undefined) {
      tx.send(requireUnrevoked, { id: known.id }, (error) => {
        if (!isRowMissing(error)) return error;
        this.#known.delete(hash);
        return refuse();
      });
      return known;
    }
    const found = await findKey(tx.db, presented);
    if (found !== undefined) this.#known.set(hash, found);
    return found;
  }
}

const requireUnrevoked = requireRow(
  (db, { id }: Params<{ id: string }>) =>
    db.selectFrom('api_keys').select('id').where('id', '=', id).where('revoked_at', 'is', null),
  { types: { id: 'text' } },
);
