import type { Store } from '../../src/ports/store/store.ts';

export type When = 'before' | 'after';

/** The store, and what is done right before or after its n-th transaction. */
export function watched(
  store: Store,
  at: number,
  when: When,
  act: () => void | Promise<void>,
): { store: Store; count(): number } {
  let count = 0;
  const transaction: Store['transaction'] = async (work, options) => {
    const isIt = ++count === at;
    if (isIt && when === 'before') await act();
    const value = await store.transaction(work, options);
    if (isIt && when === 'after') await act();
    return value;
  };
  const { dialect, db, ping, close } = store;
  return { store: { dialect, db, ping, close, isBusy: false, claimsAtOnce: 8, transaction }, count: () => count };
}
