import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { forShare } from '../../ports/store/for-share.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import type { Page } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { EVERYTHING, type View } from '../projects/view.ts';
import { announceSessionEnd } from '../streams/revocations.ts';
import { hashKey } from './api-key.ts';
import { assertPerson, deleteExpired, type Grant, toGrantRow } from './grant.ts';
import {
  findGrants,
  type GrantPage,
  type GrantRights,
  type ListedGrant,
  listGrants,
  rightsOf,
  toListedGrant,
} from './listed-grant.ts';

const DAY_MS = 24 * 3_600_000;
/** A browser that is not used is signed out within a week. */
const SESSION_MS = 7 * DAY_MS;
const SECRET_PREFIX = 'lc_se_';

/** A browser that is signed in. */
export type Session = ListedGrant;

/** Signs a browser in. The secret is for its cookie; only the hash is stored. */
export async function createSession(tx: Tx, grant: Grant): Promise<{ readonly id: string; readonly secret: string }> {
  const secret = `${SECRET_PREFIX}${randomBytes(32).toString('base64url')}`;
  await deleteExpired(tx, 'sessions', tx.now());
  const [created_at, expires_at] = [tx.now(), Math.min(tx.now() + SESSION_MS, await endOfMaker(tx, grant))];
  const row = { id: newId(tx.now()), hash: hashKey(secret), ...toGrantRow(grant), created_at, expires_at };
  await tx.db.insertInto('sessions').values(row).execute();
  return { id: row.id, secret };
}

/**
 * The row of the creating session stays locked until the commit: if that session ends at the same moment, this session ends too.
 */
async function endOfMaker(tx: Tx, { makerSessionId }: Grant): Promise<number> {
  if (makerSessionId === undefined) return Number.POSITIVE_INFINITY;
  const maker = tx.db.selectFrom('sessions').select('expires_at').where('id', '=', makerSessionId);
  return (await forShare(maker, tx.dialect).executeTakeFirst())?.expires_at ?? tx.now();
}

/**
 * Returns undefined if there is no such session, or if it has ended: by expiry, or with its key, its person or its creating
 * session.
 */
export async function findSession(
  db: Kysely<Tables>,
  by: { readonly secret: string } | { readonly id: string },
  now: number,
): Promise<Session | undefined> {
  const one = 'id' in by ? by : { hash: hashKey(by.secret) };
  const [row] = await findGrants(db, 'sessions', { now, ...one });
  return row === undefined ? undefined : toListedGrant(row);
}

/** The same, with what its key limits. */
export async function findSignedIn(
  db: Kysely<Tables>,
  secret: string,
  now: number,
): Promise<(Session & { readonly rights: GrantRights }) | undefined> {
  const [row] = await findGrants(db, 'sessions', { now, hash: hashKey(secret) });
  return row === undefined ? undefined : { ...toListedGrant(row), rights: rightsOf(row) };
}

/** Lists the sessions that are signed in, oldest first. */
export async function listSessions(tx: Tx, page: GrantPage = {}): Promise<Page<Session>> {
  return await listGrants(tx, 'sessions', page);
}

/** Ends a session: its cookie is refused, its streams end, and so do the links and sessions that it created. */
export async function endSession(tx: Tx, id: string, view: View = EVERYTHING): Promise<Session> {
  const [row] = isId(id) ? await findGrants(tx.db, 'sessions', { now: tx.now(), id, view }) : [];
  const session = row && toListedGrant(row);
  if (session === undefined) throw notFound('session', id);
  const ended = await deleteWithDescendants(tx, id);
  await revokeLinksOf(tx, ended);
  for (const one of ended) announceSessionEnd(tx, one);
  return session;
}

/** Deletes level by level: a sign-in waits for the lock on its creating session, so none can appear under one that is deleted. */
async function deleteWithDescendants(tx: Tx, id: string): Promise<readonly string[]> {
  await tx.db.deleteFrom('sessions').where('id', '=', id).execute();
  const all = [id];
  for (let level: readonly string[] = [id]; level.length > 0; ) {
    const made = tx.db.deleteFrom('sessions').where('maker_session_id', 'in', level).returning('id');
    level = (await made.execute()).map((row) => row.id);
    all.push(...level);
  }
  return all;
}

async function revokeLinksOf(tx: Tx, sessionIds: readonly string[]): Promise<void> {
  await tx.db
    .updateTable('sign_in_links')
    .set({ revoked_at: tx.now() })
    .where('maker_session_id', 'in', sessionIds)
    .where('revoked_at', 'is', null)
    .execute();
}

/** Changes the person that an operator acts for. */
export async function changePerson(
  tx: Tx,
  id: string,
  { entityId, view }: { readonly entityId: string | null; readonly view: View },
): Promise<void> {
  if (entityId !== null) await assertPerson(tx, entityId, view);
  await tx.db.updateTable('sessions').set({ entity_id: entityId }).where('id', '=', id).execute();
}
