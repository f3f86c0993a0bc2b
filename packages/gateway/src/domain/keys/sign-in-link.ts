import { randomBytes } from 'node:crypto';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import type { Page } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { EVERYTHING, type View } from '../projects/view.ts';
import { hashKey } from './api-key.ts';
import { assertPerson, deleteExpired, fromGrantRow, type Grant, toGrantRow } from './grant.ts';
import { findGrants, type GrantPage, type ListedGrant, listGrants, toListedGrant } from './listed-grant.ts';
import { hasScope, type Scope } from './scope.ts';

const DEFAULT_SECONDS = 900;
export const MAX_LINK_SECONDS = 86_400;
/** How long a link that no longer works is kept, so that the person who opens it can be told why. */
const REMEMBERED_MS = 7 * 86_400_000;

export interface NewLink {
  readonly entityId?: string | undefined;
  /** Default: none for a link with a person, otherwise the scopes of its creator. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly expiresInSeconds?: number | undefined;
  readonly maker: LinkMaker;
}

interface LinkMaker extends Pick<Grant, 'scopes' | 'keyId'> {
  readonly sessionId: string | undefined;
  readonly view: View;
  /** Its key sees all projects, although the view of this request is one of them. Default false. */
  readonly choseProject?: boolean;
}

export interface SignInCode {
  readonly id: string;
  readonly code: string;
  readonly expiresAt: number;
}

/** Creates a code that signs one browser in. Only its hash is stored, so it can only be shown now. */
export async function createSignInCode(tx: Tx, newLink: NewLink): Promise<SignInCode> {
  const { entityId, maker, expiresInSeconds = DEFAULT_SECONDS } = newLink;
  const scopes = newLink.scopes ?? (entityId === undefined ? maker.scopes : []);
  assertAtMost(maker.scopes, scopes);
  if (maker.choseProject === true && scopes.length > 0) throw new ApiError('forbidden', SEES_ALL);
  if (entityId !== undefined) await assertPerson(tx, entityId, maker.view);
  else if (scopes.length === 0) throw invalid('scopes', 'must not be empty without an entityId.');
  await deleteExpired(tx, 'sign_in_links', tx.now() - REMEMBERED_MS);
  const code = randomBytes(32).toString('base64url');
  const expiresAt = tx.now() + expiresInSeconds * 1_000;
  const { keyId, sessionId: makerSessionId } = maker;
  const grant = toGrantRow({ scopes: [...new Set(scopes)], entityId, keyId, makerSessionId });
  const times = { created_at: tx.now(), expires_at: expiresAt, used_at: null, revoked_at: null };
  const row = { id: newId(tx.now()), hash: hashKey(code), ...grant, ...times };
  await tx.db.insertInto('sign_in_links').values(row).execute();
  return { id: row.id, code, expiresAt };
}

/** Lists the links that still work, oldest first. */
export async function listLinks(tx: Tx, page: GrantPage = {}): Promise<Page<ListedGrant>> {
  return await listGrants(tx, 'sign_in_links', page);
}

/** Revokes a link that still works. Returns the revoked link. */
export async function revokeLink(tx: Tx, id: string, view: View = EVERYTHING): Promise<ListedGrant> {
  if (!isId(id)) throw notFound('link', id);
  const [link] = await findGrants(tx.db, 'sign_in_links', { now: tx.now(), id, view });
  if (link === undefined) throw notFound('link', id);
  const unused = tx.db.updateTable('sign_in_links').set({ revoked_at: tx.now() }).where('used_at', 'is', null);
  // If a sign-in happens at the same moment, one of the two comes first. If that is the sign-in, there is nothing left to revoke.
  const [revoked] = await unused.where('id', '=', id).where('revoked_at', 'is', null).returning('id').execute();
  if (revoked === undefined) throw notFound('link', id);
  return toListedGrant(link);
}

/** Uses a code, which works once. If two requests use it at the same moment, one marks the row, and the other finds it marked. */
export async function takeSignInCode(tx: Tx, code: string): Promise<Grant> {
  const row = await tx.db
    .updateTable('sign_in_links')
    .set({ used_at: tx.now() })
    .where('hash', '=', hashKey(code))
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw await refusalOf(tx, code);
  const [valid] = await findGrants(tx.db, 'sign_in_links', { now: tx.now(), id: row.id });
  if (valid === undefined) throw linkNotValid('revoked');
  return fromGrantRow(row);
}

/** The reason is only given to a caller who has the code, which cannot be guessed. */
async function refusalOf(tx: Tx, code: string): Promise<ApiError> {
  const link = tx.db.selectFrom('sign_in_links').select(['used_at', 'revoked_at']).where('hash', '=', hashKey(code));
  const row = await link.executeTakeFirst();
  if (row === undefined) return linkNotValid('unknown');
  if (row.used_at !== null) return linkNotValid('used');
  return linkNotValid(row.revoked_at === null ? 'expired' : 'revoked');
}

const WHY_NOT = {
  used: 'The link was used before: a link works once.',
  expired: 'The link has expired.',
  revoked: 'The link was revoked, or the key, session or person that it belongs to was revoked or deleted.',
  unknown: 'There is no such link.',
} as const;

export function linkNotValid(reason: keyof typeof WHY_NOT): ApiError {
  return new ApiError('link_not_valid', `${WHY_NOT[reason]} Ask for a new one.`, { details: { reason } });
}

/** A session has the view of its key, so it would see more than the request did. */
const SEES_ALL =
  'This link would sign in to all projects, as its key does. Make it with a key of the project, or name no project (Lastcall-Project).';

function assertAtMost(own: readonly Scope[], wanted: readonly Scope[]): void {
  const excess = wanted.find((scope) => !hasScope(own, scope));
  if (excess === undefined) return;
  throw new ApiError(
    'forbidden',
    `A link cannot have more rights than its creator: you do not have scope "${excess}".`,
  );
}
