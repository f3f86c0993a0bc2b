import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../domain/at-most.ts';
import type { RequestText } from '../../domain/runs/stored-request.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Store, Tx } from '../../ports/store/store.ts';

/**
 * Writes texts that are not stored yet, and marks the others as used once a day, so that the sweep keeps them. The
 * texts are sorted, so that two transactions cannot deadlock.
 */
export function writeTexts(tx: Tx, texts: readonly RequestText[]): void {
  const sorted = texts.toSorted((one, other) => (one.hash < other.hash ? -1 : 1));
  const now = tx.now();
  for (const { hash, text } of sorted) tx.send(insertText, { hash, text, now, yesterday: now - DAY_MS });
}

const DAY_MS = 86_400_000;

interface UsedText extends RequestText {
  readonly now: number;
  readonly yesterday: number;
}

const insertText = statement(
  (db, { hash, text, now, yesterday }: Params<UsedText>) =>
    db
      .insertInto('request_texts')
      .values({ hash, text, used_at: now })
      .onConflict((conflict) =>
        conflict.column('hash').doUpdateSet({ used_at: now }).where('request_texts.used_at', '<', yesterday),
      ),
  {
    key: 'hash',
    toValues: (all) => ({
      hashes: all.map(({ hash }) => hash),
      texts: all.map(({ text }) => text),
      nows: all.map(({ now }) => now),
    }),
    build: (_db, { hashes, texts, nows }: Params<TextArrays>) => sql`
      insert into request_texts (hash, text, used_at)
      select * from unnest(${hashes}::text[], ${texts}::text[], ${nows}::bigint[])
      on conflict (hash) do update set used_at = excluded.used_at
      where request_texts.used_at < excluded.used_at - ${sql.lit(DAY_MS)}`,
  },
);

interface TextArrays {
  readonly hashes: readonly string[];
  readonly texts: readonly string[];
  readonly nows: readonly number[];
}

/** True if the text is known to be stored. Most steps have no new texts. */
export function isStored(store: Store, { hash }: RequestText): boolean {
  return cacheOf(store).has(hash);
}

/** Call it after the transaction that wrote the text is committed. */
export function markStored(store: Store, { hash }: RequestText): void {
  cacheOf(store).set(hash, true);
}

function cacheOf(store: Store): LRUCache<string, true> {
  const known = caches.get(store) ?? new LRUCache<string, true>({ ...atMost(20_000), ttl: DAY_MS });
  caches.set(store, known);
  return known;
}

const caches = new WeakMap<Store, LRUCache<string, true>>();
