import { randomBytes } from 'node:crypto';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Store } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { invalid } from '../entities/invalid.ts';

const ISSUER = 'lastcall';
const AUDIENCE = 'lastcall-entity';
/** Of a token for one card. A gateway that does not know such tokens refuses them: it would take them for the entity's own. */
const CARD_AUDIENCE = 'lastcall-card';
const ALGORITHM = 'HS256';
const HOUR = 3_600;
/** A token cannot be revoked, so it must expire soon. */
const MAX_SECONDS = 24 * HOUR;

export interface EntityToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The secret that signs the tokens of all gateways on this store. It is created once. */
export async function tokenSecret(store: Store): Promise<Uint8Array> {
  return await store.transaction(async (tx) => {
    const value = toJson(randomBytes(32).toString('base64url'));
    await tx.db
      .insertInto('settings')
      .values({ key: 'token_secret', value })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
    const stored = await tx.db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', 'token_secret')
      .executeTakeFirstOrThrow();
    return Buffer.from(fromJson<string>(stored.value), 'base64url');
  });
}

interface NewToken {
  readonly entityId: string;
  /** The only call that the token is for. Default: everything that the entity may do. */
  readonly callId?: string | undefined;
  /** Default: an hour. At most a day. */
  readonly expiresInSeconds?: number | undefined;
  /** It expires by then, in milliseconds since the epoch: a token does not outlive the key that it was made with. */
  readonly until?: number | undefined;
}

/** Signs a token for one entity. */
export async function signToken(
  secret: Uint8Array,
  { entityId, callId, expiresInSeconds = HOUR, until = Number.POSITIVE_INFINITY }: NewToken,
): Promise<EntityToken> {
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > MAX_SECONDS)
    throw invalid('expiresInSeconds', `must be a whole number from 1 to ${MAX_SECONDS}, not ${expiresInSeconds}.`);
  const { SignJWT } = await import('jose');
  const now = Math.floor(Date.now() / 1_000);
  const expiresAt = Math.min(now + expiresInSeconds, Math.floor(until / 1_000));
  const token = await new SignJWT(callId === undefined ? {} : { call: callId })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setSubject(entityId)
    .setIssuer(ISSUER)
    .setAudience(callId === undefined ? AUDIENCE : CARD_AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(expiresAt)
    .sign(secret);
  return { token, expiresAt: expiresAt * 1_000 };
}

export interface VerifiedToken {
  readonly entityId: string;
  /** The only call that it is for. */
  readonly callId?: string;
  readonly expiresAt: number;
}

/**
 * Returns the entity of the token. The caller checks that the entity still exists. Anything invalid is a 401 that does not say
 * why, except that a token has expired.
 */
export async function verifyToken(secret: Uint8Array, token: string): Promise<VerifiedToken> {
  // Most gateways never see a token, and its 46 files are a twelfth of what a start costs: it is loaded when one comes.
  const { errors, jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: [AUDIENCE, CARD_AUDIENCE],
      typ: 'JWT',
    });
    const { sub: entityId, exp, aud, call } = payload;
    const isForCard = aud !== AUDIENCE;
    if (typeof entityId !== 'string' || exp === undefined || isForCard !== (typeof call === 'string'))
      throw new Error('The claims of the token have the wrong type.');
    return { entityId, expiresAt: exp * 1_000, ...(typeof call === 'string' ? { callId: call } : {}) };
  } catch (cause) {
    if (cause instanceof errors.JWTExpired)
      throw new ApiError('token_expired', 'The token has expired. Ask for a new one.', { cause });
    throw unauthorized(cause);
  }
}

function unauthorized(cause: unknown): ApiError {
  return new ApiError('unauthorized', 'The token is not valid.', { cause });
}
