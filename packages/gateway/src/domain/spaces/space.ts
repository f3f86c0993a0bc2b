import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { SpaceRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { type Metadata, toMetadata } from '../entities/metadata.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { idTaken, ownId } from '../own-id.ts';
import { lockProject } from '../projects/project.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import { addMember, type NewMember } from './membership.ts';

/** A place where entities talk to each other. */
export interface Space {
  readonly id: string;
  readonly name: string;
  /** Absent for the project `default`. */
  readonly project?: string;
  readonly description: string;
  readonly metadata: Metadata;
  readonly createdAt: number;
  /** The number of its newest message, or 0 if there is none. */
  readonly lastSeq: number;
  /** Since when it takes no new messages. Absent if it does. */
  readonly archivedAt?: number;
}

export interface NewSpace {
  /** Default `default`. */
  readonly project?: string | undefined;
  /** An id that the caller chooses. Default: a new one. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly metadata?: Metadata | undefined;
  readonly members?: readonly Omit<NewMember, 'spaceId'>[] | undefined;
}

export async function createSpace(tx: Tx, newSpace: NewSpace): Promise<Space> {
  const { project = DEFAULT_PROJECT } = newSpace;
  await lockProject(tx, project);
  const row: SpaceRow = {
    id: newSpace.id === undefined ? newId() : ownId(newSpace.id),
    project_id: project,
    name: plainText(newSpace.name, 'name', { min: 1, max: 200 }),
    description: plainText(newSpace.description ?? '', 'description', { max: 2_000 }),
    metadata: toMetadata(newSpace.metadata),
    next_seq: 1,
    hops: 0,
    created_at: tx.now(),
    deleted_at: null,
    archived_at: null,
  };
  const inserted = await tx.db
    .insertInto('spaces')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) throw idTaken(row.id);
  await lockEntities(tx, newSpace.members ?? []);
  for (const member of newSpace.members ?? []) await addMember(tx, { ...member, spaceId: row.id });
  return toSpace(row);
}

/** Each new member is counted in its entity's row. Locked in one order, two spaces with the same members never wait for each other. */
async function lockEntities(tx: Tx, members: NonNullable<NewSpace['members']>): Promise<void> {
  const ids = members.map(({ entityId }) => entityId).filter(isId);
  if (ids.length < 2) return;
  await tx.db.selectFrom('entities').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute();
}

export async function getSpace(db: Kysely<Tables>, spaceId: string): Promise<Space> {
  const row = isId(spaceId)
    ? await db
        .selectFrom('spaces')
        .selectAll()
        .where('id', '=', spaceId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound('space', spaceId);
  return toSpace(row);
}

export interface SpaceFilter extends PageOptions {
  /** Only spaces that this entity is a member of. */
  readonly entityId?: string | undefined;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
  /** Whether archived spaces are listed too, or alone. Default `exclude`. */
  readonly archived?: 'exclude' | 'include' | 'only' | undefined;
}

/** Lists spaces, oldest first. */
export async function listSpaces(db: Kysely<Tables>, filter: SpaceFilter = {}): Promise<Page<Space>> {
  const limit = pageLimit(filter.limit);
  const after = textCursor(filter.cursor);
  const { entityId, view = EVERYTHING, archived = 'exclude' } = filter;
  if (entityId !== undefined && !isId(entityId)) return { items: [] };
  let query = db.selectFrom('spaces').selectAll().where('deleted_at', 'is', null).where(inView(view, 'spaces'));
  if (archived !== 'include') query = query.where('archived_at', archived === 'only' ? 'is not' : 'is', null);
  if (after !== undefined) query = query.where('id', '>', after);
  if (entityId !== undefined)
    query = query.where('id', 'in', (eb) =>
      eb.selectFrom('memberships').select('space_id').where('entity_id', '=', entityId).where('left_at', 'is', null),
    );
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toSpace });
}

export function toSpace(row: SpaceRow): Space {
  return {
    id: row.id,
    name: row.name,
    ...(row.project_id === DEFAULT_PROJECT ? {} : { project: row.project_id }),
    description: row.description,
    metadata: fromJson<Metadata>(row.metadata),
    createdAt: row.created_at,
    lastSeq: row.next_seq - 1,
    ...(row.archived_at === null ? {} : { archivedAt: row.archived_at }),
  };
}
