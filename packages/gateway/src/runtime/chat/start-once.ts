import { findByBody, findByKey, type RequestIdentity } from '../../domain/contexts/turn-requests.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Registry } from '../cycle/registry.ts';
import { callerId, repeatOf, startTurn } from './start-turn.ts';
import type { AcceptedTurn, TurnRequest } from './turn-request.ts';

export interface OnceRequest extends TurnRequest {
  readonly identity: RequestIdentity;
  /** The client says that it sent the request before. */
  readonly isRetry: boolean;
}

/**
 * `startTurn` for clients that send a request again without an idempotency key, and say that they do. A retry returns the turn of the
 * newest request with the same body. A request that is no retry starts a turn of its own, whatever was sent before.
 */
export async function startOnce(
  services: Services,
  tx: Tx,
  registry: Registry,
  { isRetry, ...request }: OnceRequest,
): Promise<AcceptedTurn> {
  const { identity, caller, input } = request;
  if (identity.key !== undefined) return await startTurn(services, tx, registry, request);
  const { bodyHash } = identity;
  const newest = await findByBody(tx.db, { caller: callerId(caller), bodyHash, since: 0 });
  if (isRetry && newest !== undefined && newest.notedAt >= tx.now() - RETRIED_WITHIN_MS)
    return await repeatOf(tx, newest, caller);
  // The first attempt may be under way on another gateway, and not stored yet. A retry counts up to the same key, and waits for it.
  for (let number = numberOf(newest?.key) + 1; ; number++) {
    const numbered = { ...identity, key: `${bodyHash} ${number}` };
    const accepted = await startTurn(services, tx, registry, { ...request, identity: numbered });
    if (!accepted.isRepeat || isRetry || 'answers' in input) return accepted;
  }
}

/**
 * The turn that this request started when it came before, as `startOnce` would find it, for doors that have to look up what the request
 * names: that may have another name by now.
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

/** The `openai` package tries three times, each for ten minutes. */
const RETRIED_WITHIN_MS = 60 * 60_000;

/** A space is in no key that a client can send. */
function numberOf(key: string | null | undefined): number {
  return Number(/ (\d+)$/.exec(key ?? '')?.[1] ?? 0);
}
