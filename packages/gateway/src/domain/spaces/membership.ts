import type { Kysely } from 'kysely';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { EntityKind, EntityRow, MembershipRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { spaceStream } from '../streams/stream-names.ts';
import { activeRunsIn } from './active-runs.ts';
import { type AgentFailure, currentFailures } from './agent-failure.ts';
import { lockSpace } from './lock-space.ts';

/** An entity in a space. */
export interface Member {
  readonly spaceId: string;
  readonly entityId: string;
  readonly kind: EntityKind;
  readonly displayName: string;
  readonly role: string;
  readonly joinedAt: number;
  /** The run in which an agent is at work here. */
  readonly activeRunId?: string;
  /** The last failure of an agent here, if it is still current. */
  readonly failure?: AgentFailure;
}

export interface NewMember {
  readonly spaceId: string;
  readonly entityId: string;
  /** Tools may name the roles that answer them. Default `member`. */
  readonly role?: string | undefined;
  /** The project of the caller, for whom spaces of others do not exist. Default: that of the space. */
  readonly project?: string | undefined;
}

/** Adds a member. An existing member stays, and gets the new role if there is one. */
export async function addMember(tx: Tx, newMember: NewMember): Promise<Member> {
  const { spaceId, entityId } = newMember;
  const space = await lockSpace(tx, spaceId);
  if (newMember.project !== undefined && newMember.project !== space.project_id) throw notFound('space', spaceId);
  const before = await findEver(tx, spaceId, entityId);
  const entity = before?.number == null ? await countSpace(tx, entityId) : await lockUndeleted(tx, entityId);
  // Projects are apart because no space has members of two: for each other's spaces, their entities do not exist.
  if (entity.project_id !== space.project_id) throw notFound('entity', entityId);
  const known = before?.left_at === null ? before : undefined;
  const number = before?.number ?? entity.spaces_joined;
  const role = plainText(newMember.role ?? known?.role ?? 'member', 'role', { min: 1, max: 100 });
  const row: MembershipRow = {
    space_id: spaceId,
    entity_id: entityId,
    role,
    joined_at: known?.joined_at ?? tx.now(),
    left_at: null,
    last_seen_seq: known?.last_seen_seq ?? 0,
    number,
  };
  await tx.db
    .insertInto('memberships')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['space_id', 'entity_id'])
        .doUpdateSet({ role, joined_at: row.joined_at, left_at: null, number }),
    )
    .execute();
  if (known?.role !== role)
    tx.emit({ stream: spaceStream(spaceId), type: 'member.joined', payload: { entityId, role } });
  return toMember({ ...row, kind: entity.kind, display_name: entity.display_name });
}

/** Removes a member. If the space was an agent's active space, the agent then has none. */
export async function removeMember(
  tx: Tx,
  { spaceId, entityId }: { spaceId: string; entityId: string },
): Promise<void> {
  await lockSpace(tx, spaceId);
  const left = isId(entityId)
    ? await tx.db
        .updateTable('memberships')
        .set({ left_at: tx.now() })
        .where('space_id', '=', spaceId)
        .where('entity_id', '=', entityId)
        .where('left_at', 'is', null)
        .returning('role')
        .executeTakeFirst()
    : undefined;
  if (left === undefined) throw notFound('member', entityId);
  await tx.db
    .updateTable('agents')
    .set({ active_space_id: null })
    .where('entity_id', '=', entityId)
    .where('active_space_id', '=', spaceId)
    .execute();
  tx.emit({
    stream: spaceStream(spaceId),
    type: 'member.left',
    payload: { entityId, role: left.role },
  });
}

export async function listMembers(
  db: Kysely<Tables>,
  { spaceId, ...page }: { readonly spaceId: string } & PageOptions,
): Promise<Page<Member>> {
  const limit = pageLimit(page.limit);
  const after = textCursor(page.cursor);
  if (!isId(spaceId)) return { items: [] };
  let query = db
    .selectFrom('memberships')
    .innerJoin('entities', 'entities.id', 'memberships.entity_id')
    .selectAll('memberships')
    .select(['entities.kind', 'entities.display_name'])
    .where('space_id', '=', spaceId)
    .where('left_at', 'is', null);
  if (after !== undefined) query = query.where('entity_id', '>', after);
  const rows = await query
    .orderBy('entity_id')
    .limit(limit + 1)
    .execute();
  const failures = await currentFailures(db, spaceId);
  const active = await activeRunsIn(db, spaceId);
  return toPage(rows, {
    limit,
    cursorOf: ({ entity_id }) => entity_id,
    toItem: (row) => ({
      ...toMember(row),
      ...activeRunOf(active.get(row.entity_id)),
      ...failureOf(failures.get(row.entity_id)),
    }),
  });
}

function activeRunOf(activeRunId: string | undefined): Pick<Member, 'activeRunId'> {
  return activeRunId === undefined ? {} : { activeRunId };
}

function failureOf(failure: AgentFailure | undefined): Pick<Member, 'failure'> {
  return failure === undefined ? {} : { failure };
}

/** Throws "not found" for entities that are not members, so that they cannot tell that the space exists. */
export async function requireMember(db: Kysely<Tables>, spaceId: string, entityId: string): Promise<MembershipRow> {
  const membership = await findMembership(db, spaceId, entityId);
  if (membership === undefined) throw notFound('space', spaceId);
  return membership;
}

/** The membership of an entity that is currently in the space. */
export async function findMembership(
  db: Kysely<Tables>,
  spaceId: string,
  entityId: string,
): Promise<MembershipRow | undefined> {
  if (!isId(spaceId) || !isId(entityId)) return undefined;
  const [membership] = await findCurrent(db, { spaceId, entityId });
  return membership;
}

const findCurrent = statement((db, { spaceId, entityId }: Params<{ spaceId: string; entityId: string }>) =>
  db
    .selectFrom('memberships')
    .select(COLUMNS.memberships)
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId)
    .where('left_at', 'is', null),
);

/** The membership, even if it has ended: its number stays. */
async function findEver(tx: Tx, spaceId: string, entityId: string): Promise<MembershipRow | undefined> {
  if (!isId(spaceId) || !isId(entityId)) return undefined;
  return await tx.db
    .selectFrom('memberships')
    .selectAll()
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId)
    .executeTakeFirst();
}

/** Counts one more space of an entity that is not deleted, and locks it. The count is not taken back when a space is deleted. */
async function countSpace(tx: Tx, entityId: string): Promise<EntityRow> {
  const entity = isId(entityId)
    ? await tx.db
        .updateTable('entities')
        .set((eb) => ({ spaces_joined: eb('spaces_joined', '+', 1) }))
        .where('id', '=', entityId)
        .where('deleted_at', 'is', null)
        .returningAll()
        .executeTakeFirst()
    : undefined;
  if (entity === undefined) throw notFound('entity', entityId);
  return entity;
}

/** Locks an entity that is not deleted. Without the lock, a deleted one could become a member again. */
async function lockUndeleted(tx: Tx, entityId: string): Promise<EntityRow> {
  if (!isId(entityId)) throw notFound('entity', entityId);
  const row = tx.db.selectFrom('entities').selectAll().where('id', '=', entityId).where('deleted_at', 'is', null);
  const entity = await row.forShare().executeTakeFirst();
  if (entity === undefined) throw notFound('entity', entityId);
  return entity;
}

function toMember(row: MembershipRow & Pick<EntityRow, 'kind' | 'display_name'>): Member {
  return {
    spaceId: row.space_id,
    entityId: row.entity_id,
    kind: row.kind,
    displayName: row.display_name,
    role: row.role,
    joinedAt: row.joined_at,
  };
}
