import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { requireRow } from '../../ports/store/require-row.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { EntityKind, EntityRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Param, type Params, type Statement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { newId } from '../new-id.ts';
import { lockProject } from '../projects/project.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import { isId, plainText } from './column-text.ts';
import { invalid } from './invalid.ts';
import { type Metadata, toMetadata } from './metadata.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from './page.ts';

/** A person, an agent or a service. */
export interface Entity {
  readonly id: string;
  readonly kind: EntityKind;
  /** Absent for the project `default`. */
  readonly project?: string;
  /** The entity's id in the caller's own system. */
  readonly externalId?: string;
  readonly displayName: string;
  readonly metadata: Metadata;
  readonly createdAt: number;
  /** Set when the entity was deleted. Its messages stay. */
  readonly deletedAt?: number;
}

export interface NewEntity {
  /** Default `default`. */
  readonly project?: string | undefined;
  /** Agents are created with their configuration: see createAgent. */
  readonly kind: EntityKind;
  readonly externalId?: string | undefined;
  readonly displayName: string;
  readonly metadata?: Metadata | undefined;
}

/** Creates an entity. If one with the same external id exists, that one is returned unchanged. */
export async function createEntity(tx: Tx, newEntity: NewEntity): Promise<Entity> {
  if (newEntity.kind === 'agent')
    throw invalid('kind', 'must be "human" or "service": create agents with POST /api/agents.');
  const { project = DEFAULT_PROJECT } = newEntity;
  await lockProject(tx, project);
  const inserted = await insertEntity(tx, newEntity);
  if (inserted !== undefined) return toEntity(inserted);
  const existing = await tx.db
    .selectFrom('entities')
    .selectAll()
    .where('external_id', '=', newEntity.externalId ?? '')
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow();
  if (existing.kind !== newEntity.kind)
    throw new ApiError('external_id_taken', `externalId "${newEntity.externalId}" belongs to a ${existing.kind}.`, {
      details: { path: 'externalId', kind: existing.kind },
    });
  return toEntity(existing);
}

/** Returns undefined if another entity has the external id. */
export async function insertEntity(tx: Tx, newEntity: NewEntity, id: string = newId()): Promise<EntityRow | undefined> {
  return await tx.db
    .insertInto('entities')
    .values({
      id,
      project_id: newEntity.project ?? DEFAULT_PROJECT,
      kind: newEntity.kind,
      external_id:
        newEntity.externalId === undefined ? null : plainText(newEntity.externalId, 'externalId', { min: 1, max: 200 }),
      display_name: plainText(newEntity.displayName, 'displayName', { min: 1, max: 200 }),
      metadata: toMetadata(newEntity.metadata),
      created_at: tx.now(),
      deleted_at: null,
      spaces_joined: 0,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'external_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Finds deleted entities too, because messages still name them. */
export async function getEntity(db: Kysely<Tables>, entityId: string): Promise<Entity> {
  const row = isId(entityId)
    ? await db.selectFrom('entities').selectAll().where('id', '=', entityId).executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound('entity', entityId);
  return toEntity(row);
}

export interface EntityFilter extends PageOptions {
  readonly kind?: EntityKind | undefined;
  readonly externalId?: string | undefined;
  /** Default: those of all projects. */
  readonly view?: View | undefined;
}

/** Lists entities, oldest first, without deleted ones. */
export async function listEntities(db: Kysely<Tables>, filter: EntityFilter = {}): Promise<Page<Entity>> {
  const limit = pageLimit(filter.limit);
  const after = textCursor(filter.cursor);
  const { view = EVERYTHING } = filter;
  let query = db.selectFrom('entities').selectAll().where('deleted_at', 'is', null).where(inView(view, 'entities'));
  if (after !== undefined) query = query.where('id', '>', after);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.externalId !== undefined)
    query = query.where('external_id', '=', plainText(filter.externalId, 'externalId', { max: 200 }));
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toEntity });
}

function toEntity(row: EntityRow): Entity {
  return {
    id: row.id,
    kind: row.kind,
    ...(row.project_id === DEFAULT_PROJECT ? {} : { project: row.project_id }),
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: row.display_name,
    metadata: fromJson<Metadata>(row.metadata),
    createdAt: row.created_at,
    ...(row.deleted_at === null ? {} : { deletedAt: row.deleted_at }),
  };
}

/** Fails the transaction that sends it if the entity was deleted. */
export const requireEntity: Statement<{ entityId: string }, unknown> = requireRow(
  (db, { entityId }: Params<{ entityId: string }>) => undeleted(db, entityId),
);

export async function isUndeleted(db: Kysely<Tables>, entityId: string): Promise<boolean> {
  return (await findUndeleted(db, { entityId })).length > 0;
}

const findUndeleted = statement((db, { entityId }: Params<{ entityId: string }>) => undeleted(db, entityId));

const undeleted = (db: Kysely<Tables>, entityId: Param<string>) =>
  db.selectFrom('entities').select('id').where('id', '=', entityId).where('deleted_at', 'is', null);
