import type { Kysely } from 'kysely';
import { ApiError } from '../../domain/api-error.ts';
import type { KnownKeys } from '../../domain/keys/known-keys.ts';
import { hasScope, type Scope } from '../../domain/keys/scope.ts';
import { verifyToken } from '../../domain/keys/tokens.ts';
import { isRowMissing, requireRow } from '../../ports/store/require-row.ts';
import type { Params } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Tables } from '../../ports/store/tables.ts';
import { type Caller, isStillValid } from '../caller.ts';
import type { Endpoint } from './endpoint.ts';

/** What was shown at the door, and where: a URL ends up in logs, so no secret key is taken from one. */
export interface Credentials {
  readonly secret: string;
  readonly from: 'header' | 'query';
}

export function credentialsOf(request: Request, { answer }: Endpoint): Credentials | undefined {
  const header = request.headers.get('authorization');
  if (header !== null) {
    const secret = /^bearer +([\x21-\x7e]{1,4096})$/i.exec(header.trim())?.[1];
    if (secret === undefined) throw unauthorized('Send "Authorization: Bearer <secret key or entity token>".');
    return { secret, from: 'header' };
  }
  const token = answer === 'text/event-stream' ? new URL(request.url).searchParams.get('token') : null;
  return token === null ? undefined : { secret: token, from: 'query' };
}

/** Finds out who it is: the cryptography now, the rest in the transaction of whatever they want. */
export async function authenticate(
  { tokenSecret, knownKeys }: { readonly tokenSecret: Uint8Array; readonly knownKeys: KnownKeys },
  credentials: Credentials | undefined,
): Promise<(tx: Tx) => Promise<Caller>> {
  if (credentials === undefined) return async () => ({ kind: 'nobody' });
  const { secret, from } = credentials;
  // Most keys can be no token: what that costs to find out is more than the rest of a request.
  const token = TOKEN.test(secret)
    ? await verifyToken(tokenSecret, secret).catch((error: unknown) => asRefusal(error))
    : undefined;
  return async (tx) => {
    if (token !== undefined && !(token instanceof ApiError)) return livingEntity(tx, token);
    const key = from === 'header' ? await knownKeys.find(tx, secret, refused) : undefined;
    if (key !== undefined) return { kind: 'key', keyId: key.id, scopes: key.scopes };
    throw token?.code === 'token_expired' ? token : refused();
  };
}

/** Three parts in base64url. */
const TOKEN: RegExp = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Throws 401 where they would not get in again. */
export async function assertStillValid(db: Kysely<Tables>, caller: Caller): Promise<void> {
  if (!(await isStillValid(db, caller))) throw refused();
}

/** Whether such a caller may use the endpoint at all; what of it they may see is the endpoint's to say. */
export function assertMay(caller: Caller, { access, method }: Pick<Endpoint, 'access' | 'method'>): void {
  if (access === 'anyone') return;
  if (caller.kind === 'nobody') throw unauthorized('Send "Authorization: Bearer <secret key or entity token>".');
  if (caller.kind === 'entity') {
    if (access !== 'entity')
      throw forbidden('This needs a secret key. A token gives access only to what its entity takes part in.');
    return;
  }
  const needed: Scope = access === 'admin' ? 'admin' : method === 'get' ? 'read' : 'write';
  if (!hasScope(caller.scopes, needed)) throw forbidden(`This needs a secret key with scope "${needed}".`);
}

function asRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** The transaction fails if the entity was deleted. Nothing waits for that answer. */
function livingEntity(tx: Tx, { entityId, expiresAt }: { entityId: string; expiresAt: number }): Caller {
  tx.send(requireEntity, { entityId }, (error) => (isRowMissing(error) ? refused() : error));
  return { kind: 'entity', entityId, expiresAt };
}

const requireEntity = requireRow((db, { entityId }: Params<{ entityId: string }>) =>
  db.selectFrom('entities').select('id').where('id', '=', entityId).where('deleted_at', 'is', null),
);

function refused(): ApiError {
  return unauthorized('The key or token is not valid.');
}

function unauthorized(message: string): ApiError {
  return new ApiError(401, 'unauthorized', message);
}

function forbidden(message: string): ApiError {
  return new ApiError(403, 'forbidden', message);
}
