import type { Kysely } from 'kysely';
import { ApiError } from '../../domain/api-error.ts';
import { requireEntity } from '../../domain/entities/entity.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { viewOfLimits } from '../../domain/keys/key-limits.ts';
import type { KnownKeys } from '../../domain/keys/known-keys.ts';
import { hasScope, type Scope } from '../../domain/keys/scope.ts';
import { findSignedIn } from '../../domain/keys/session.ts';
import { type VerifiedToken, verifyToken } from '../../domain/keys/tokens.ts';
import { isRowMissing } from '../../ports/store/require-row.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { type Caller, isStillValid, type SessionCaller } from '../caller.ts';
import type { Endpoint } from './endpoint.ts';
import { assertOwnPage } from './own-page.ts';
import { cookieSecret } from './session-cookie.ts';

/** The secret of a request and where it was sent. No secret key is accepted in a URL, because URLs end up in logs. */
export interface Credentials {
  readonly secret: string;
  readonly from: 'header' | 'query' | 'cookie';
}

/** A header takes precedence over a cookie, which the browser always sends. */
export function credentialsOf(
  request: Request,
  { answer, access }: Endpoint,
  publicUrl?: string | undefined,
): Credentials | undefined {
  const header = request.headers.get('authorization');
  if (header !== null) {
    const secret = /^bearer +([\x21-\x7e]{1,4096})$/i.exec(header.trim())?.[1];
    if (secret === undefined) throw unauthorized('Send "Authorization: Bearer <secret key or entity token>".');
    return { secret, from: 'header' };
  }
  const token = answer === 'text/event-stream' ? new URL(request.url).searchParams.get('token') : null;
  if (token !== null) return { secret: token, from: 'query' };
  // Ignored on sign-in: the browser may still send the cookie of a session that ended.
  const secret = access === 'anyone' ? undefined : cookieSecret(request);
  if (secret === undefined) return undefined;
  assertOwnPage(request, publicUrl);
  return { secret, from: 'cookie' };
}

/** The sender of a request, before and after the check in the store. */
export interface Identity {
  /** Known without the store: a key that was valid when it was last used, a token with a valid signature, or no credentials. */
  readonly presumed: Caller | undefined;
  /** Checks the credentials in the transaction of the request. Throws 401, now or when the transaction commits. */
  confirm(tx: Tx): Promise<Caller>;
}

interface Door {
  readonly tokenSecret: Uint8Array;
  readonly knownKeys: KnownKeys;
  /** Creates the error for a wrong key or token: see keys/attempts.ts. */
  readonly refuse: (refusal: ApiError) => ApiError;
}

export async function authenticate(
  { tokenSecret, knownKeys, refuse }: Door,
  credentials: Credentials | undefined,
): Promise<Identity> {
  if (credentials === undefined) return { presumed: ANONYMOUS, confirm: async () => ANONYMOUS };
  const { secret, from } = credentials;
  if (from === 'cookie') return { presumed: undefined, confirm: (tx) => signedIn(tx, secret) };
  // Most keys do not have the form of a token, and verifying one costs more than the rest of a request.
  const token = TOKEN.test(secret)
    ? await verifyToken(tokenSecret, secret).catch((error: unknown) => asRefusal(error))
    : undefined;
  const refused = (): ApiError => refuse(invalidSecret());
  if (token !== undefined && !(token instanceof ApiError))
    return { presumed: { kind: 'entity', ...token }, confirm: async (tx) => livingEntity(tx, token, refused) };
  const known = from === 'header' ? knownKeys.peek(secret) : undefined;
  return {
    presumed: known === undefined ? undefined : toCaller(known),
    async confirm(tx) {
      const key = from === 'header' ? await knownKeys.find(tx, secret, refused) : undefined;
      if (key !== undefined) return toCaller(key);
      // An expired token was valid once, so it does not count as a guess.
      throw token?.code === 'token_expired' ? token : refused();
    },
  };
}

const ANONYMOUS: Caller = { kind: 'anonymous' };

function toCaller({ id, scopes, project, paths, rate, expiresAt, ...limits }: ApiKey): Caller {
  const view = { ...viewOfLimits(limits), project };
  return { kind: 'key', keyId: id, scopes, view, paths, rate, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** The form of a token: three parts in base64url. */
const TOKEN: RegExp = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Throws 401 if the caller's credentials are no longer valid. */
export async function assertStillValid(db: Kysely<Tables>, caller: Caller): Promise<void> {
  if (!(await isStillValid(db, caller))) throw invalidSecret();
}

/**
 * Checks whether the caller may use the endpoint at all; the endpoint decides what they may see. Returns the caller to act as: a
 * session without the needed scopes acts as its person.
 */
export function admit(caller: Caller, endpoint: AdmittedTo): Caller {
  assertPath(caller, endpoint);
  const isPerson = caller.kind === 'session' && caller.entityId !== undefined && endpoint.access === 'entity';
  if (!isPerson) assertMay(caller, endpoint);
  return isPerson && !hasScope(caller.scopes, neededScope(endpoint)) ? { ...caller, scopes: [] } : caller;
}

/**
 * The same check before the request body is read. The store is only queried for callers who are not known yet, and for callers
 * who would be refused: a key that was revoked meanwhile gets 401 and not 403.
 */
export async function admitEarly({ presumed, confirm }: Identity, endpoint: Endpoint, store: Store): Promise<Caller> {
  if (presumed !== undefined && (presumed.kind === 'anonymous' || isAdmitted(presumed, endpoint)))
    return admit(presumed, endpoint);
  return await store.transaction(async (tx) => admit(await confirm(tx), endpoint), { isUrgent: true });
}

function isAdmitted(caller: Caller, endpoint: Endpoint): boolean {
  try {
    admit(caller, endpoint);
    return true;
  } catch {
    return false;
  }
}

type AdmittedTo = Pick<Endpoint, 'access' | 'method' | 'path'>;

/** What a token for one card can do. Which call it names is checked in project-rules.ts. */
const CARD_OPERATIONS: readonly string[] = ['GET /api/calls/{id}', 'POST /api/runs/{runId}/tool-results'];

/** A key can be limited to certain operations, and a token to one card. */
function assertPath(caller: Caller, { method, path, access }: AdmittedTo): void {
  const operation = `${method.toUpperCase()} ${path}`;
  if (caller.kind === 'entity' && caller.callId !== undefined) {
    if (access !== 'anyone' && !CARD_OPERATIONS.includes(operation))
      throw forbidden('This token is for one card. Sign in to do anything else.');
    return;
  }
  const { paths } = 'view' in caller ? caller : {};
  if (paths !== undefined && !paths.includes(operation)) throw forbidden(`This key may not use ${operation}.`);
}

function assertMay(caller: Caller, { access, method }: Pick<Endpoint, 'access' | 'method'>): void {
  if (access === 'anyone') return;
  if (caller.kind === 'anonymous') throw unauthorized('Send "Authorization: Bearer <secret key or entity token>".');
  if (caller.kind === 'entity') {
    if (access !== 'entity' && access !== 'session')
      throw forbidden('This needs a secret key. A token gives access only to what its entity takes part in.');
    return;
  }
  if (access === 'session') return;
  const needed = neededScope({ access, method });
  if (hasScope(caller.scopes, needed)) return;
  const what = caller.kind === 'session' ? 'a session' : 'a secret key';
  throw forbidden(`This needs ${what} with scope "${needed}".`);
}

function neededScope({ access, method }: Pick<Endpoint, 'access' | 'method'>): Scope {
  if (access === 'admin') return 'admin';
  return method === 'get' ? 'read' : 'write';
}

/** Read again on every request: the session may have ended, or the person it acts for may have changed. */
async function signedIn(tx: Tx, secret: string): Promise<SessionCaller> {
  const session = await findSignedIn(tx.db, secret, tx.now());
  if (session === undefined) throw unauthorized('The session has ended. Sign in again.');
  const { id: sessionId, scopes, entity, keyId, expiresAt, rights } = session;
  const { view, paths, rate, hasExpiringKey } = rights;
  const limits = { view, paths, rate, hasExpiringKey };
  return { kind: 'session', sessionId, scopes, entityId: entity?.id, keyId, expiresAt, ...limits };
}

function asRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** The transaction fails if the entity was deleted. The query is not awaited. */
function livingEntity(tx: Tx, token: VerifiedToken, refused: () => ApiError): Caller {
  tx.send(requireEntity, { entityId: token.entityId }, (error) => (isRowMissing(error) ? refused() : error));
  return { kind: 'entity', ...token };
}

function invalidSecret(): ApiError {
  return unauthorized('The key or token is not valid.');
}

function unauthorized(message: string): ApiError {
  return new ApiError('unauthorized', message);
}

function forbidden(message: string): ApiError {
  return new ApiError('forbidden', message);
}
