import { ApiError } from '../../domain/api-error.ts';
import type { Revocations } from '../../domain/streams/revocations.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { type Caller, isStillValid } from '../caller.ts';
import type { StreamAccess } from './event-source.ts';

export interface StreamAccessOptions {
  readonly store: Store;
  readonly revocations: Revocations;
  readonly caller: Caller;
  /** Throws an ApiError once they may not see what the stream shows. */
  readonly assertAllowed: (tx: Pick<Tx, 'db'>) => Promise<void>;
}

/** From here on it is heard when the caller's key is revoked: who opens a stream checks the key after this. */
export async function openStreamAccess(options: StreamAccessOptions): Promise<StreamAccess> {
  const { store, revocations, caller, assertAllowed } = options;
  const ended = new AbortController();
  const isKey = caller.kind === 'key';
  const unwatch = isKey ? await revocations.watch(caller.keyId, () => ended.abort()) : () => {};
  return {
    ended: ended.signal,
    isAllowed: async () => (await isStillValid(store.db, caller)) && (await passes(assertAllowed(store))),
    concerns: (event) => tellsOfLeaving(event, caller),
    catchUp: (event) => (isKey ? revocations.catchUp(event.revocations) : undefined),
    close: unwatch,
    ...(caller.kind === 'entity' ? { expiresAt: caller.expiresAt } : {}),
  };
}

async function passes(check: Promise<void>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function tellsOfLeaving({ type, payload }: StreamEvent, caller: Caller): boolean {
  return (
    type === 'member.left' &&
    caller.kind === 'entity' &&
    (payload as { readonly entityId?: unknown }).entityId === caller.entityId
  );
}
