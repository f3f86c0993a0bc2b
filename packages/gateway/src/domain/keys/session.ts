import { randomBytes } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { SessionRow, Tables } from '../../ports/store/tables.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { announceSessionEnd } from '../streams/revocations.ts';
import { hashKey } from './api-key.ts';
import { assertPerson, deleteExpired, fromGrantRow, type Grant, toGrantRow } from './grant.ts';
import type { Scope } from './scope.ts';

const DAY_MS = 24 * 3_600_000;
/** A browser that is left alone on a desk is signed out within a week. */
const SESSION_MS = 7 * DAY_MS;
const SECRET_PREFIX = 'lc_se_';

/** A browser that is signed in. */
export interface Session {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The person that posts and answers are by. */
  readonly entity?: { readonly id: string; readonly displayName: string };
  /** The key that it ends with. */
  readonly keyId?: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Signs a browser in. The secret is for its cookie; only the hash is stored. */
export async function createSession(tx: Tx, grant: Grant): Promise<{ readonly id: string; readonly secret: string }> {
  const secret = `${SECRET_PREFIX}${randomBytes(32).toString('base64url')}`;
  await deleteExpired(tx, 'sessions', tx.now());
  const [created_at, expires_at] = [tx.now(), tx.now() + SESSION_MS];
  const row = { id: newId(tx.now()), hash: hashKey(secret), ...toGrantRow(grant), created_at, expires_at };
  await tx.db.insertInto('sessions').values(row).execute();
  return { id: row.id, secret };
}

/** Undefined if there is no such session, or if it has ended: by itself, with its key, or with its person. */
export async function findSession(
  db: Kysely<Tables>,
  by: { readonly secret: string } | { readonly id: string },
  now: number,
): Promise<Session | undefined> {
  const found = sessions(db, now);
  const one =
    'id' in by ? found.where('sessions.id', '=', by.id) : found.where('sessions.hash', '=', hashKey(by.secret));
  const row = await one.executeTakeFirst();
  return row === undefined ? undefined : toSession(row);
}

/** Lists those that are signed in, oldest first. */
export async function listSessions(tx: Tx, page: PageOptions = {}): Promise<Page<Session>> {
  const limit = pageLimit(page.limit);
  const after = textCursor(page.cursor) ?? '';
  const rows = await sessions(tx.db, tx.now())
    .where('sessions.id', '>', after)
    .orderBy('sessions.id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toSession });
}

/** Ends a session: its cookie opens nothing more, and what it opened ends. */
export async function endSession(services: Pick<Services, 'bus'>, tx: Tx, id: string): Promise<Session> {
  const session = isId(id) ? await findSession(tx.db, { id }, tx.now()) : undefined;
  if (session === undefined) throw notFound('session', id);
  await tx.db.deleteFrom('sessions').where('id', '=', id).execute();
  announceSessionEnd(services, tx, id);
  return session;
}

/** Changes for whom an operator acts. */
export async function changePerson(tx: Tx, id: string, entityId: string | null): Promise<void> {
  if (entityId !== null) await assertPerson(tx, entityId);
  await tx.db.updateTable('sessions').set({ entity_id: entityId }).where('id', '=', id).execute();
}

/** Those that have not ended. */
function sessions(db: Kysely<Tables>, now: number) {
  return db
    .selectFrom('sessions')
    .leftJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .leftJoin('entities', 'entities.id', 'sessions.entity_id')
    .select(['sessions.id', 'sessions.scopes', 'sessions.entity_id', 'sessions.key_id'])
    .select(['sessions.created_at', 'sessions.expires_at', 'entities.display_name'])
    .where('sessions.expires_at', '>', now)
    .where('api_keys.revoked_at', 'is', null)
    .where('entities.deleted_at', 'is', null);
}

type FoundRow = Omit<Selectable<SessionRow>, 'hash'> & { readonly display_name: string | null };

function toSession({ id, display_name, created_at, expires_at, ...row }: FoundRow): Session {
  const { scopes, entityId, keyId } = fromGrantRow(row);
  return {
    id,
    scopes,
    ...(entityId === undefined ? {} : { entity: { id: entityId, displayName: display_name ?? '' } }),
    ...(keyId === undefined ? {} : { keyId }),
    createdAt: created_at,
    expiresAt: expires_at,
  };
}
