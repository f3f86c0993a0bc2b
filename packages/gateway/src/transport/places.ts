import type { ApiError } from '../domain/api-error.ts';
import { type Caller, limitedTo } from './caller.ts';

/** Room for one stream, for one request that waits for a run, or for one body that is being read. */
export interface Place {
  /** Releases the place. Calling it again has no effect. */
  release(): void;
}

/** The holder of a place. Without an address, as in memory, only the caller is counted. */
export interface Holder {
  readonly caller: Caller;
  readonly address: string;
}

export interface PlacesOptions {
  readonly limits: Readonly<Record<Share, number>>;
  /** Creates the error, which says which share is used up and what to do. */
  readonly refuse: (share: Share, limit: number) => ApiError;
}

export type Share = 'gateway' | 'caller' | 'address';

/**
 * A limited number of places. One caller and one address get a share of them, so that neither can use up the rest. Only current
 * holders are stored, so there are never more entries than places.
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #held = new Map<string, number>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#held.get('gateway') ?? 0;
  }

  /**
   * Throws 429 if there is none left, or if the holder's share is used up. What is large takes several places, and at most the whole share of
   * a caller.
   */
  take(holder: Holder, wanted = 1): Place {
    const names = namesOf(holder);
    const { gateway, caller, address } = this.#options.limits;
    const count = Math.min(wanted, gateway, caller, address);
    for (const { share, name } of names) this.#assertRoom(share, name, count);
    for (const { name } of names) this.#held.set(name, (this.#held.get(name) ?? 0) + count);
    let isHeld = true;
    return {
      release: () => {
        if (isHeld) for (const { name } of names) this.#leave(name, count);
        isHeld = false;
      },
    };
  }

  #assertRoom(share: Share, name: string, count: number): void {
    const { limits, refuse } = this.#options;
    if ((this.#held.get(name) ?? 0) + count > limits[share]) throw refuse(share, limits[share]);
  }

  #leave(name: string, count: number): void {
    const left = (this.#held.get(name) ?? 0) - count;
    if (left > 0) this.#held.set(name, left);
    else this.#held.delete(name);
  }
}

interface Named {
  readonly share: Share;
  readonly name: string;
}

/** The narrowest share comes first, so that a caller who has used up their own share does not read that the gateway is full. */
function namesOf({ caller, address }: Holder): readonly Named[] {
  const id = shareOf(caller);
  return [
    ...(id === undefined ? [] : [{ share: 'caller', name: `caller ${id}` } as const]),
    ...(address === '' ? [] : [{ share: 'address', name: `address ${address}` } as const]),
    { share: 'gateway', name: 'gateway' },
  ];
}

/** All tokens and sessions of a person count as one caller, and so do a key and the operators who signed in with it. */
function shareOf(caller: Caller): string | undefined {
  const entityId = limitedTo(caller);
  if (entityId !== undefined) return `entity ${entityId}`;
  if (caller.kind === 'key') return `key ${caller.keyId}`;
  if (caller.kind !== 'session') return undefined;
  return caller.keyId === undefined ? `session ${caller.sessionId}` : `key ${caller.keyId}`;
}
