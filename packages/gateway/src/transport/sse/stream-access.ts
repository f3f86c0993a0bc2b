import { ApiError } from '../../domain/api-error.ts';
import type { Revocations } from '../../domain/streams/revocations.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { type Caller, isStillValid, limitedTo } from '../caller.ts';
import type { StreamAccess } from './event-source.ts';

export interface StreamAccessOptions {
  readonly store: Store;
  readonly revocations: Revocations;
  readonly caller: Caller;
  /** Throws an ApiError once the caller may no longer see what the stream shows. */
  readonly assertAllowed: (tx: Pick<Tx, 'db'>) => Promise<void>;
}

/** After this call, a revoked key or an ended session is noticed. Callers must therefore check both after it. */
export async function openStreamAccess(options: StreamAccessOptions): Promise<StreamAccess> {
  const { store, revocations, caller, assertAllowed } = options;
  const ended = new AbortController();
  const unwatch = await watchCaller(revocations, caller, () => ended.abort());
  return {
    ended: ended.signal,
    isAllowed: async () => (await isStillValid(store.db, caller)) && (await passes(assertAllowed(store))),
    concerns: (event) => tellsOfLeaving(event, caller),
    catchUp: (event) => (caller.kind === 'entity' ? undefined : revocations.catchUp(event.revocations)),
    close: unwatch,
    ...('expiresAt' in caller && caller.expiresAt !== undefined ? { expiresAt: caller.expiresAt } : {}),
  };
}

/** Calls `onEnd` once the caller's key or session is revoked. Tokens cannot be revoked. */
async function watchCaller(revocations: Revocations, caller: Caller, onEnd: () => void): Promise<() => void> {
  const watches = await Promise.all(revocable(caller).map((id) => revocations.watch(id, onEnd)));
  return () => {
    for (const unwatch of watches) unwatch();
  };
}

function revocable(caller: Caller): readonly string[] {
  if (caller.kind === 'key') return [caller.keyId];
  if (caller.kind !== 'session') return [];
  return caller.keyId === undefined ? [caller.sessionId] : [caller.sessionId, caller.keyId];
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
  const limit = limitedTo(caller);
  return (
    type === 'member.left' && limit !== undefined && (payload as { readonly entityId?: unknown }).entityId === limit
  );
}
