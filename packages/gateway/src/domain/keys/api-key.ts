import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { ApiKeyRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { lockProject } from '../projects/project.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import { announceRevocation } from '../streams/revocations.ts';
import { fromLimits, type KeyLimits, toLimits } from './key-limits.ts';
import { checkScopes, hasScope, type Scope } from './scope.ts';

/** A secret key without the key itself. */
export interface ApiKey extends KeyLimits {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The project that it sees. Undefined: all of them. */
  readonly project?: string;
  /** The beginning of the key, to tell it from others. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}

export interface NewKey extends KeyLimits {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Default: all projects for a key with scope `admin`, otherwise `default`. */
  readonly project?: string | undefined;
  /** Default: never. */
  readonly expiresAt?: number | undefined;
}

/** The name of the key that the environment sets. A start revokes all others of that name. */
export const CONFIGURED = 'LASTCALL_SECRET_KEY';

/** Creates a key and returns it. It cannot be read again: only its hash is stored. */
export async function createKey(tx: Tx, newKey: NewKey): Promise<{ readonly id: string; readonly key: string }> {
  if (newKey.name === CONFIGURED)
    throw invalid('name', 'is for the key that the environment sets: a start would revoke this one. Choose another.');
  const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;
  const row = await insertKey(tx, newKey, key);
  return { id: row.id, key };
}

export async function insertKey(tx: Tx, newKey: NewKey, key: string): Promise<ApiKeyRow> {
  const { name, expiresAt } = newKey;
  const scopes = checkScopes(newKey.scopes);
  const project = newKey.project ?? (hasScope(scopes, 'admin') ? undefined : DEFAULT_PROJECT);
  if (project !== undefined) await lockProject(tx, project);
  if (expiresAt !== undefined && expiresAt <= tx.now()) throw invalid('expiresAt', 'must be in the future.');
  const row: ApiKeyRow = {
    id: newId(),
    name: plainText(name, 'name', { min: 1, max: 200 }),
    kind: 'secret',
    hash: hashKey(key),
    prefix: key.startsWith(KEY_PREFIX) ? key.slice(0, SHOWN_CHARACTERS) : '',
    scopes: toJson(scopes),
    project_id: project ?? null,
    limits: await toLimits(tx.db, newKey, project),
    created_at: tx.now(),
    expires_at: expiresAt ?? null,
    revoked_at: null,
  };
  await tx.db.insertInto('api_keys').values(row).execute();
  return row;
}

/** Returns undefined if there is no such key, or it was revoked or has expired. */
export async function findKey(db: Kysely<Tables>, presented: string): Promise<ApiKey | undefined> {
  const hash = hashKey(presented);
  const [row] = await findHash(db, { hash });
  // The database's comparison may leak the hash by its timing, which is harmless. The comparison that decides takes
  // constant time.
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
  const key = toApiKey(row);
  return hasExpired(key) ? undefined : key;
}

const findHash = statement((db, { hash }: Params<{ hash: string }>) =>
  db.selectFrom('api_keys').select(COLUMNS.api_keys).where('hash', '=', hash).where('revoked_at', 'is', null),
);

/**
 * Revokes a key: new requests with it are refused, and its open streams end. Revoking it again changes nothing, even at the same
 * moment, because the condition is part of the write.
 */
export async function revokeKey(tx: Tx, keyId: string): Promise<ApiKey> {
  if (!isId(keyId)) throw notFound('key', keyId);
  await tx.db
    .updateTable('api_keys')
    .set({ revoked_at: tx.now() })
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .execute();
  const row = await tx.db.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirst();
  if (row === undefined) throw notFound('key', keyId);
  announceRevocation(tx, keyId);
  return toApiKey(row);
}

/** Lists keys, oldest first, revoked ones too. */
export async function listKeys(
  db: Kysely<Tables>,
  { view = EVERYTHING, ...page }: PageOptions & { readonly view?: View | undefined } = {},
): Promise<Page<ApiKey>> {
  const limit = pageLimit(page.limit);
  const after = textCursor(page.cursor);
  let query = db.selectFrom('api_keys').selectAll().where(inView(view, 'api_keys'));
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toApiKey });
}

/** 32 random bytes need no salt and no slow hash: they cannot be guessed. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

const KEY_PREFIX = 'lc_sk_';

/**
 * Enough to tell our keys apart, and far too little to guess the rest. An operator's own key could be hardly longer
 * than this.
 */
const SHOWN_CHARACTERS = 12;

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    scopes: fromJson<readonly Scope[]>(row.scopes),
    ...(row.project_id === null ? {} : { project: row.project_id }),
    ...fromLimits(row.limits),
    prefix: row.prefix,
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
  };
}

/** False for a key that was revoked or has expired. */
export async function isKeyValid(db: Kysely<Tables>, keyId: string): Promise<boolean> {
  const [row] = await findRevocation(db, { keyId });
  return row !== undefined && row.revoked_at === null && (row.expires_at ?? Number.POSITIVE_INFINITY) > Date.now();
}

const findRevocation = statement((db, { keyId }: Params<{ keyId: string }>) =>
  db.selectFrom('api_keys').select(['revoked_at', 'expires_at']).where('id', '=', keyId),
);

export function hasExpired({ expiresAt = Number.POSITIVE_INFINITY }: Pick<ApiKey, 'expiresAt'>): boolean {
  return expiresAt <= Date.now();
}
