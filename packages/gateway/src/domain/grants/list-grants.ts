import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { EVERYTHING, throughAgents, type View } from '../projects/view.ts';
import { type Grant, type ReadGrant, toGrant } from './grant.ts';
import { isActive } from './is-active.ts';

interface GrantFilter {
  readonly id?: string | undefined;
  readonly agentId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly status?: Grant['status'] | undefined;
  /** Only grants of this entity. */
  readonly entityId?: string | undefined;
  readonly view?: View;
}

/** Lists grants, newest first. */
export async function listGrants(tx: Tx, filter: GrantFilter & PageOptions): Promise<Page<Grant>> {
  const limit = pageLimit(filter.limit);
  const before = textCursor(filter.cursor);
  const query = grantsOf(tx.db, tx.now(), filter);
  const rows = await (before === undefined ? query : query.where('grants.id', '<', before))
    .orderBy('grants.id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows as ReadGrant[], { limit, cursorOf: ({ id }) => id, toItem: toGrant });
}

/** A grant that the caller can see. */
export async function getGrant(tx: Tx, id: string, filter: Pick<GrantFilter, 'entityId' | 'view'>): Promise<Grant> {
  const row = isId(id) ? await grantsOf(tx.db, tx.now(), { ...filter, id }).executeTakeFirst() : undefined;
  if (row === undefined) throw notFound('grant', id);
  return toGrant(row as ReadGrant);
}

/**
 * Revokes a grant. It is in effect with the commit: calls that run because of it have started before, and every later one waits. Revoking a
 * grant that has ended changes nothing.
 */
export async function revokeGrant(
  tx: Tx,
  id: string,
  { by, ...filter }: Pick<GrantFilter, 'entityId' | 'view'> & { readonly by: string },
): Promise<Grant> {
  const before = await getGrant(tx, id, filter);
  if (before.status === 'ended') return before;
  await tx.db
    .updateTable('grants')
    .set({ ended_at: tx.now(), end_reason: 'revoked', ended_by: by })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
  return await getGrant(tx, id, filter);
}

function grantsOf(
  db: Kysely<Tables>,
  now: number,
  { id, agentId, toolName, status, entityId, view = EVERYTHING }: GrantFilter,
) {
  const active = isActive(now);
  let query = db
    .selectFrom('grants')
    .leftJoin('entities', 'entities.id', 'grants.granted_by')
    .selectAll('grants')
    .select([
      'entities.display_name as granted_by_name',
      sql<number>`case when ${active} then 1 else 0 end`.as('is_active'),
    ])
    .where(throughAgents(view, 'grants.agent_id'));
  if (id !== undefined) query = query.where('grants.id', '=', id);
  if (agentId !== undefined) query = query.where('grants.agent_id', '=', agentId);
  if (toolName !== undefined) query = query.where('grants.tool_name', '=', toolName);
  if (entityId !== undefined) query = query.where('grants.granted_by', '=', entityId);
  if (status === 'active') query = query.where(active);
  if (status === 'ended') query = query.where(sql<boolean>`not ${active}`);
  return query;
}
