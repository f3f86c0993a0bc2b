import type { Store } from '../../src/ports/store/store.ts';

export type When = 'before' | 'after';

/** A store that runs a function right before or after its n-th transaction. */
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
  const { dialect, db, ping, close, reclaim } = store;
  return {
    store: { dialect, db, ping, close, reclaim, isBusy: false, claimsAtOnce: 8, rowsAtOnce: 100, transaction },
    count: () => count,
  };
}

/** The error of every transaction of a killed process. */
class Killed extends Error {
  override readonly name = 'Killed';
}

/** The store of a process that is killed right before or after its n-th transaction: it writes nothing from then on. */
export function killedAt(store: Store, at: number, when: When): { store: Store; count(): number } {
  let count = 0;
  let isDead = false;
  const transaction: Store['transaction'] = async (work, options) => {
    const isIt = ++count === at;
    if (isIt && when === 'before') isDead = true;
    if (isDead) throw new Killed();
    const value = await store.transaction(work, options);
    if (isIt) isDead = true;
    // The process is dead, so nothing that follows has an effect.
    if (isIt) throw new Killed();
    return value;
  };
  const { dialect, db, ping, close, reclaim } = store;
  return {
    store: { dialect, db, ping, close, reclaim, isBusy: false, claimsAtOnce: 8, rowsAtOnce: 100, transaction },
    count: () => count,
  };
}
