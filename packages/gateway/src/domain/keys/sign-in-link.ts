import { randomBytes } from 'node:crypto';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { invalid } from '../entities/invalid.ts';
import { hashKey } from './api-key.ts';
import { assertPerson, deleteExpired, fromGrantRow, type Grant, isGrantValid, toGrantRow } from './grant.ts';
import { hasScope, type Scope } from './scope.ts';

const DEFAULT_SECONDS = 900;
export const MAX_LINK_SECONDS = 86_400;
/** How long a link that no longer works is kept, so that whoever opens it can be told why. */
const REMEMBERED_MS = 7 * 86_400_000;

export interface NewLink {
  readonly entityId?: string | undefined;
  /** Default: none for a link with a person, and those of its maker otherwise. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly expiresInSeconds?: number | undefined;
  readonly maker: { readonly scopes: readonly Scope[]; readonly keyId: string | undefined };
}

export interface SignInCode {
  readonly code: string;
  readonly expiresAt: number;
}

/** Makes a code that signs one browser in. Only its hash is stored, so it is shown now or never. */
export async function createSignInCode(tx: Tx, newLink: NewLink): Promise<SignInCode> {
  const { entityId, maker, expiresInSeconds = DEFAULT_SECONDS } = newLink;
  const scopes = newLink.scopes ?? (entityId === undefined ? maker.scopes : []);
  assertAtMost(maker.scopes, scopes);
  if (entityId !== undefined) await assertPerson(tx, entityId);
  else if (scopes.length === 0) throw invalid('scopes', 'must not be empty without an entityId.');
  await deleteExpired(tx, 'sign_in_links', tx.now() - REMEMBERED_MS);
  const code = randomBytes(32).toString('base64url');
  const expiresAt = tx.now() + expiresInSeconds * 1_000;
  const grant = toGrantRow({ scopes: [...new Set(scopes)], entityId, keyId: maker.keyId });
  const row = { hash: hashKey(code), ...grant, created_at: tx.now(), expires_at: expiresAt, used_at: null };
  await tx.db.insertInto('sign_in_links').values(row).execute();
  return { code, expiresAt };
}

/** Uses a code up. Of two that use it at the same moment one marks the row, and the other finds it marked. */
export async function takeSignInCode(tx: Tx, code: string): Promise<Grant> {
  const row = await tx.db
    .updateTable('sign_in_links')
    .set({ used_at: tx.now() })
    .where('hash', '=', hashKey(code))
    .where('used_at', 'is', null)
    .where('expires_at', '>', tx.now())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw await refusalOf(tx, code);
  const grant = fromGrantRow(row);
  if (!(await isGrantValid(tx.db, grant))) throw notValid('revoked');
  return grant;
}

/** Only whoever has the code, which nobody can guess, is told what became of it. */
async function refusalOf(tx: Tx, code: string): Promise<ApiError> {
  const link = tx.db.selectFrom('sign_in_links').select('used_at').where('hash', '=', hashKey(code));
  const row = await link.executeTakeFirst();
  if (row === undefined) return notValid('unknown');
  return notValid(row.used_at === null ? 'expired' : 'used');
}

const WHY_NOT = {
  used: 'The link was used before: it signs in once.',
  expired: 'The link has expired.',
  revoked: 'The link ended with the key that made it, or with its person.',
  unknown: 'There is no such link.',
} as const;

function notValid(reason: keyof typeof WHY_NOT): ApiError {
  return new ApiError(401, 'link_not_valid', `${WHY_NOT[reason]} Ask for a new one.`, { details: { reason } });
}

function assertAtMost(own: readonly Scope[], wanted: readonly Scope[]): void {
  const excess = wanted.find((scope) => !hasScope(own, scope));
  if (excess === undefined) return;
  throw new ApiError(403, 'forbidden', `A link gives no more than its maker has: you do not have scope "${excess}".`);
}
