import { findByBody, findByKey, type RequestIdentity } from '../../domain/conversations/turn-requests.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Registry } from '../toolset/registry.ts';
import { callerId, repeatOf, startTurn } from './start-turn.ts';
import type { AcceptedTurn, TurnRequest } from './turn-request.ts';

export interface OnceRequest extends TurnRequest {
  readonly identity: RequestIdentity;
  /** True if the client marks the request as a retry. */
  readonly isRetry: boolean;
}

/**
 * `startTurn` for clients that retry without an idempotency key, but mark the request as a retry. A retry returns the
 * turn of the newest request with the same body. Any other request starts a new turn, even if the same body was sent
 * before.
 */
export async function startOnce(
  tx: Tx,
  registry: Registry,
  { isRetry, ...request }: OnceRequest,
): Promise<AcceptedTurn> {
  const { identity, caller, input } = request;
  if (identity.key !== undefined) return await startTurn(tx, registry, request);
  const { bodyHash } = identity;
  const newest = await findByBody(tx.db, { caller: callerId(caller), bodyHash, since: 0 });
  if (isRetry && newest !== undefined && newest.notedAt >= tx.now() - RETRIED_WITHIN_MS)
    return await repeatOf(tx, newest, caller);
  // The first attempt may be running on another gateway and not be stored yet. A retry counts up to the same key, and
  // waits for it.
  for (let number = numberOf(newest?.key) + 1; ; number++) {
    const numbered = { ...identity, key: `${bodyHash} ${number}` };
    const accepted = await startTurn(tx, registry, { ...request, identity: numbered });
    if (!accepted.isRepeat || isRetry || 'answers' in input) return accepted;
  }
}

/**
 * The turn that this request started the first time, as `startOnce` would find it. For endpoints that first look up
 * what the request names: its name may have changed since.
 */
export async function findStarted(
  tx: Tx,
  { identity, caller, isRetry }: Pick<OnceRequest, 'identity' | 'caller' | 'isRetry'>,
): Promise<AcceptedTurn | undefined> {
  const { key, bodyHash } = identity;
  const by = { caller: callerId(caller), bodyHash };
  if (key === undefined && !isRetry) return undefined;
  const turn =
    key === undefined
      ? await findByBody(tx.db, { ...by, since: tx.now() - RETRIED_WITHIN_MS })
      : await findByKey(tx.db, { ...by, key });
  return turn && (await repeatOf(tx, turn, caller));
}

/** The `openai` package tries three times, for up to ten minutes each. */
const RETRIED_WITHIN_MS = 60 * 60_000;

/** Keys that clients send never contain a space. */
function numberOf(key: string | null | undefined): number {
  return Number(/ (\d+)$/.exec(key ?? '')?.[1] ?? 0);
}
