import { LRUCache } from 'lru-cache';
import type { RequestText } from '../../domain/runs/stored-request.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Store, Tx } from '../../ports/store/store.ts';

/** Writes texts that are not stored yet. In one order, so that two transactions never wait for each other. */
export function writeTexts(tx: Tx, texts: readonly RequestText[]): void {
  const sorted = texts.toSorted((one, other) => (one.hash < other.hash ? -1 : 1));
  for (const { hash, text } of sorted) tx.send(insertText, { hash, text, now: tx.now() });
}

const insertText = statement((db, { hash, text, now }: Params<RequestText & { readonly now: number }>) =>
  db
    .insertInto('request_texts')
    .values({ hash, text, created_at: now })
    .onConflict((conflict) => conflict.column('hash').doNothing()),
);

/** True if the text is known to be stored: most steps write none. */
export function isStored(store: Store, { hash }: RequestText): boolean {
  return cacheOf(store).has(hash);
}

/** Call it once the transaction that wrote the text was committed. */
export function markStored(store: Store, { hash }: RequestText): void {
  cacheOf(store).set(hash, true);
}

function cacheOf(store: Store): LRUCache<string, true> {
  const known = caches.get(store) ?? new LRUCache<string, true>({ max: 20_000 });
  caches.set(store, known);
  return known;
}

const caches = new WeakMap<Store, LRUCache<string, true>>();
