import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { DaySpendLimits } from '../../config/spend-limits.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { ProjectRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { retryInvalidAgentsOf } from '../agents/retry-invalid.ts';
import { isOrdinary } from '../agents/tool-caller.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { idTaken, ownId } from '../own-id.ts';
import { releaseHeld } from '../usage/hold-events.ts';
import type { View } from './view.ts';

/** A customer of the gateway, with everything that belongs to it. */
export interface Project {
  readonly id: string;
  readonly name: string;
  /** What all its agents together may spend on a day. */
  readonly spend?: DaySpendLimits;
  readonly createdAt: number;
}

export interface NewProject {
  /** An id that the caller chooses. Default: a new one. */
  readonly id?: string | undefined;
  /** Default: its id. */
  readonly name?: string | undefined;
  readonly spend?: DaySpendLimits | undefined;
}

export async function createProject(tx: Tx, newProject: NewProject): Promise<Project> {
  const id = newProject.id === undefined ? newId(tx.now()) : ownId(newProject.id);
  const row: ProjectRow = {
    id,
    name: nameOf(newProject.name ?? id),
    spend: spendOf(newProject.spend),
    created_at: tx.now(),
    deleted_at: null,
  };
  const inserted = await tx.db
    .insertInto('projects')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) throw idTaken(id);
  return toProject(row);
}

/** Lists the projects that a caller can see, by id. */
export async function listProjects(db: Kysely<Tables>, view: View, page: PageOptions = {}): Promise<Page<Project>> {
  const limit = pageLimit(page.limit);
  const after = textCursor(page.cursor);
  let query = existing(db);
  if (view.project !== undefined) query = query.where('id', '=', view.project);
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toProject });
}

export async function getProject(db: Kysely<Tables>, id: string, view: View = {}): Promise<Project> {
  const isVisible = isId(id) && (view.project ?? id) === id;
  const row = isVisible ? await existing(db).where('id', '=', id).executeTakeFirst() : undefined;
  if (row === undefined) throw notFound('project', id);
  return toProject(row);
}

/** Throws 404 if there is no such project. It is not deleted before the commit. */
export async function lockProject(tx: Tx, id: string): Promise<void> {
  if (id === DEFAULT_PROJECT) return;
  const row = isId(id) ? existing(tx.db).where('id', '=', id).forShare() : undefined;
  if ((await row?.executeTakeFirst()) === undefined) throw notFound('project', id);
}

export interface ProjectChanges {
  readonly name?: string | undefined;
  /** Null removes the limits. */
  readonly spend?: DaySpendLimits | null | undefined;
}

export async function updateProject(tx: Tx, id: string, { name, spend }: ProjectChanges): Promise<Project> {
  const before = await getProject(tx.db, id);
  const changed = {
    name: nameOf(name ?? before.name),
    spend: spendOf(spend === undefined ? before.spend : (spend ?? undefined)),
  };
  await tx.db.updateTable('projects').set(changed).where('id', '=', id).execute();
  if (spend !== undefined) {
    // A limit may have been raised, or one that could not be checked is gone.
    await releaseHeld(tx);
    await retryInvalidAgentsOf(tx, id);
  }
  return toProject({ id, ...changed, created_at: before.createdAt, deleted_at: null });
}

/** Deletes a project that has nothing in it. Its id cannot be used again. */
export async function deleteProject(tx: Tx, id: string): Promise<{ readonly id: string }> {
  if (id === DEFAULT_PROJECT) throw inUse(`The project "${DEFAULT_PROJECT}" cannot be deleted.`);
  const row = isId(id) ? existing(tx.db).where('id', '=', id).forUpdate() : undefined;
  if ((await row?.executeTakeFirst()) === undefined) throw notFound('project', id);
  const left = await contentOf(tx.db, id);
  if (left !== undefined) throw inUse(`The project "${id}" still has ${left}${ADVICE[left]}`);
  await tx.db.updateTable('projects').set({ deleted_at: tx.now() }).where('id', '=', id).execute();
  return { id };
}

type Content = 'agents' | 'spaces' | 'people or services' | 'tools' | 'evaluations' | 'keys';

const ADVICE: Readonly<Record<Content, string>> = {
  agents: ': delete them first.',
  spaces: ': delete them first.',
  'people or services': ': delete them first.',
  tools: ': delete them first.',
  evaluations: ': delete them first.',
  keys: ': revoke them first.',
};

/** What a project still contains. */
async function contentOf(db: Kysely<Tables>, id: string): Promise<Content | undefined> {
  const agents = db.selectFrom('agents').where('status', '!=', 'deleted').where(isOrdinary);
  const people = db.selectFrom('entities').where('deleted_at', 'is', null).where('kind', '!=', 'agent');
  const keys = db.selectFrom('api_keys').where('revoked_at', 'is', null);
  const rows: Readonly<Record<Content, { executeTakeFirst(): Promise<unknown> }>> = {
    agents: agents.where('project_id', '=', id).select('id').limit(1),
    spaces: db.selectFrom('spaces').where('deleted_at', 'is', null).where('project_id', '=', id).select('id').limit(1),
    'people or services': people.where('project_id', '=', id).select('id').limit(1),
    tools: db.selectFrom('tools').where('project_id', '=', id).select('id').limit(1),
    evaluations: db.selectFrom('evaluations').where('project_id', '=', id).select('id').limit(1),
    keys: keys.where('project_id', '=', id).select('id').limit(1),
  };
  for (const [content, row] of Object.entries(rows))
    if ((await row.executeTakeFirst()) !== undefined) return content as Content;
  return undefined;
}

const existing = (db: Kysely<Tables>) => db.selectFrom('projects').selectAll().where('deleted_at', 'is', null);

function inUse(message: string): ApiError {
  return new ApiError('project_in_use', message);
}

function nameOf(name: string): string {
  return plainText(name, 'name', { min: 1, max: 200 });
}

function spendOf(spend: DaySpendLimits | undefined): string | null {
  return spend === undefined || Object.keys(spend).length === 0 ? null : toJson(spend);
}

function toProject({ id, name, spend, created_at }: ProjectRow): Project {
  return {
    id,
    name,
    ...(spend === null ? {} : { spend: fromJson<DaySpendLimits>(spend) }),
    createdAt: created_at,
  };
}
