import { randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { fromJson, toJson } from '../../ports/store/json.ts';
import type { Store } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { invalid } from '../entities/invalid.ts';

const ISSUER = 'lastcall';
const AUDIENCE = 'lastcall-entity';
const ALGORITHM = 'HS256';
const HOUR = 3_600;
/** A token cannot be revoked: it must end by itself soon. */
const LONGEST = 24 * HOUR;

export interface EntityToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What signs the tokens of all gateways on this store: made once. */
export async function tokenSecret(store: Store): Promise<Uint8Array> {
  return await store.transaction(async (tx) => {
    const value = toJson(randomBytes(32).toString('base64url'));
    await tx.db
      .insertInto('settings')
      .values({ key: 'token_secret', value })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
    const kept = await tx.db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', 'token_secret')
      .executeTakeFirstOrThrow();
    return Buffer.from(fromJson<string>(kept.value), 'base64url');
  });
}

/** A token that is its entity's, and nobody else's, until it ends: after an hour, or up to a day. */
export async function signToken(
  secret: Uint8Array,
  { entityId, expiresInSeconds = HOUR }: { readonly entityId: string; readonly expiresInSeconds?: number | undefined },
): Promise<EntityToken> {
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > LONGEST)
    throw invalid('expiresInSeconds', `must be a whole number from 1 to ${LONGEST}, not ${expiresInSeconds}.`);
  const now = Math.floor(Date.now() / 1_000);
  const token = await new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setSubject(entityId)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + expiresInSeconds)
    .sign(secret);
  return { token, expiresAt: (now + expiresInSeconds) * 1_000 };
}

export interface VerifiedToken {
  readonly entityId: string;
  readonly expiresAt: number;
}

/**
 * Whose token it is; whether they are still there is for the caller to look up. Anything else is a 401 that does not say how close it
 * came, except that it has expired.
 */
export async function verifyToken(secret: Uint8Array, token: string): Promise<VerifiedToken> {
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: 'JWT',
    });
    const { sub: entityId, exp } = payload;
    if (typeof entityId !== 'string' || exp === undefined) throw new Error('Claims of the wrong type.');
    return { entityId, expiresAt: exp * 1_000 };
  } catch (cause) {
    if (cause instanceof errors.JWTExpired)
      throw new ApiError(401, 'token_expired', 'The token has expired. Ask for a new one.', { cause });
    throw unauthorized(cause);
  }
}

function unauthorized(cause: unknown): ApiError {
  return new ApiError(401, 'unauthorized', 'The token is not valid.', { cause });
}
