import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { SessionRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { EVERYTHING, type View } from '../projects/view.ts';
import { fromGrantRow, type GrantRow } from './grant.ts';
import { fromLimits, type KeyLimits, viewOfLimits } from './key-limits.ts';
import type { Scope } from './scope.ts';

/** A grant as it is listed. */
export interface ListedGrant {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The person who is the author of messages and answers. */
  readonly entity?: { readonly id: string; readonly displayName: string };
  /** The key whose revocation ends it. */
  readonly keyId?: string;
  /** The session that created it and whose end also ends it. */
  readonly makerSessionId?: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type ListedGrantRow = GrantRow &
  Pick<SessionRow, 'id' | 'created_at' | 'expires_at'> & {
    readonly display_name: string | null;
    /** The project of the person. */
    readonly person_project: string | null;
    readonly key_project: string | null;
    readonly key_limits: string | null;
    readonly key_expires_at: number | null;
  };

/** What limits a grant: the limits of the key that it was made with. A person without scopes may do what a token of that person may. */
export interface GrantRights extends KeyLimits {
  readonly view: View;
  readonly hasExpiringKey: boolean;
}

export function rightsOf(row: ListedGrantRow): GrantRights {
  const { scopes, person_project, key_project, key_limits } = row;
  const hasExpiringKey = row.key_expires_at !== null;
  if (fromJson<readonly Scope[]>(scopes).length === 0)
    return { view: { project: person_project ?? undefined }, hasExpiringKey };
  const limits = fromLimits(key_limits);
  return { ...limits, view: { ...viewOfLimits(limits), project: key_project ?? undefined }, hasExpiringKey };
}

export function toListedGrant({
  id,
  display_name,
  created_at,
  expires_at,
  key_expires_at,
  ...row
}: ListedGrantRow): ListedGrant {
  const { scopes, entityId, keyId, makerSessionId } = fromGrantRow(row);
  return {
    id,
    scopes,
    ...(entityId === undefined ? {} : { entity: { id: entityId, displayName: display_name ?? '' } }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(makerSessionId === undefined ? {} : { makerSessionId }),
    createdAt: created_at,
    expiresAt: Math.min(expires_at, key_expires_at ?? expires_at),
  };
}

type GrantTable = 'sessions' | 'sign_in_links';

interface GrantFilter {
  readonly now: number;
  readonly id?: string;
  readonly hash?: string;
  /** Only grants with a greater id, in the order of their ids. */
  readonly after?: string;
  readonly limit?: number;
  /** For links: neither used nor revoked. */
  readonly isOpen?: boolean;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
}

export interface GrantPage extends PageOptions {
  readonly view?: View | undefined;
}

/**
 * Finds the grants that have not ended: by expiry, or with their key, their person or the session that created them. Only the
 * direct creator is checked, because ending a session deletes everything that was created through it.
 */
export async function findGrants(
  db: Kysely<Tables>,
  table: GrantTable,
  { now, id, hash, after, limit, isOpen = false, view = EVERYTHING }: GrantFilter,
): Promise<readonly ListedGrantRow[]> {
  let query = db
    // Sessions have all columns of links that are used here, except those of `isOpen`.
    .selectFrom(`${table} as grants` as 'sign_in_links as grants')
    .leftJoin('api_keys', 'api_keys.id', 'grants.key_id')
    .leftJoin('entities', 'entities.id', 'grants.entity_id')
    .leftJoin('sessions as makers', 'makers.id', 'grants.maker_session_id')
    .select(['grants.id', 'grants.scopes', 'grants.entity_id', 'grants.key_id', 'grants.maker_session_id'])
    .select(['grants.created_at', 'grants.expires_at', 'entities.display_name'])
    .select(['entities.project_id as person_project', 'api_keys.project_id as key_project'])
    .select(['api_keys.limits as key_limits', 'api_keys.expires_at as key_expires_at'])
    .where('grants.expires_at', '>', now)
    .where('api_keys.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', now)]))
    .where('entities.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('grants.maker_session_id', 'is', null), eb('makers.id', 'is not', null)]));
  if (view.project !== undefined) query = query.where(ofProject(view.project));
  if (isOpen) query = query.where('grants.used_at', 'is', null).where('grants.revoked_at', 'is', null);
  if (id !== undefined) query = query.where('grants.id', '=', id);
  if (hash !== undefined) query = query.where('grants.hash', '=', hash);
  if (after !== undefined) query = query.where('grants.id', '>', after).orderBy('grants.id');
  return await (limit === undefined ? query : query.limit(limit)).execute();
}

/** Grants of the project's keys, and of its people if they have no other rights. */
function ofProject(project: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(api_keys.project_id = ${project} or (grants.scopes = '[]' and entities.project_id = ${project}))`;
}

/** Lists grants, oldest first. */
export async function listGrants(tx: Tx, table: GrantTable, page: GrantPage): Promise<Page<ListedGrant>> {
  const limit = pageLimit(page.limit);
  const rows = await findGrants(tx.db, table, {
    now: tx.now(),
    after: textCursor(page.cursor) ?? '',
    limit: limit + 1,
    isOpen: table === 'sign_in_links',
    view: page.view,
  });
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toListedGrant });
}
