import type { GatewayLimits } from '../../src/config/limits.ts';
import type { Store, Tx } from '../../src/ports/store/store.ts';

/** The same store, whose transactions have other limits. */
export function withLimits(store: Store, limits: GatewayLimits): Store {
  return new Proxy(store, {
    get(target, key) {
      if (key !== 'transaction') return Reflect.get(target, key, target);
      const transaction: Store['transaction'] = (work, options) =>
        target.transaction((tx) => work(limited(tx, limits)), options);
      return transaction;
    },
  });
}

function limited(tx: Tx, limits: GatewayLimits): Tx {
  return new Proxy(tx, {
    get(target, key) {
      if (key === 'limits') return limits;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
