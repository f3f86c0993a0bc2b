import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { ErasureKind, ErasurePhase, ErasureRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import type { View } from '../projects/view.ts';

/** The erasure of what a person wrote, of a space, a conversation or an agent, and how far it is. */
export interface Erasure {
  readonly id: string;
  readonly kind: ErasureKind;
  /** The id of what is erased. */
  readonly subjectId: string;
  /** Absent for the project `default`. */
  readonly project?: string | undefined;
  readonly status: 'running' | 'done';
  /** What is done at the moment: see docs/deleting-data.md. */
  readonly phase: ErasurePhase;
  /** How many rows had texts that were replaced. */
  readonly replaced: number;
  /** Why the last attempt stopped. The next one continues where it was. */
  readonly error?: string | undefined;
  readonly createdAt: number;
  readonly doneAt?: number | undefined;
}

export interface NewErasure {
  readonly kind: ErasureKind;
  readonly subjectId: string;
  readonly project: string;
}

/** Orders an erasure. A gateway performs it, and if that one is killed, another one continues: see perform-erasures.ts. */
export async function orderErasure(tx: Tx, { kind, subjectId, project }: NewErasure): Promise<Erasure> {
  const row: ErasureRow = {
    ...{ id: newId(tx.now()), project_id: project, kind, subject_id: subjectId },
    ...{ status: 'running', phase: 'collect', cursor: null, replaced: 0, error: null },
    ...{ owner: null, owned_until: 0, created_at: tx.now(), done_at: null },
  };
  await tx.db.insertInto('erasures').values(row).execute();
  return toErasure(row);
}

export async function getErasure(db: Kysely<Tables>, id: string, view: View): Promise<Erasure> {
  const row = isId(id) ? await inProject(db, view).where('id', '=', id).executeTakeFirst() : undefined;
  if (row === undefined) throw notFound('erasure', id);
  return toErasure(row);
}

/** Lists erasures, newest first. */
export async function listErasures(db: Kysely<Tables>, view: View, page: PageOptions = {}): Promise<Page<Erasure>> {
  const limit = pageLimit(page.limit);
  const before = textCursor(page.cursor);
  let query = inProject(db, view);
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toErasure });
}

function inProject(db: Kysely<Tables>, { project }: View) {
  const all = db.selectFrom('erasures').selectAll();
  return project === undefined ? all : all.where('project_id', '=', project);
}

function toErasure(row: ErasureRow): Erasure {
  return {
    id: row.id,
    kind: row.kind,
    subjectId: row.subject_id,
    ...(row.project_id === DEFAULT_PROJECT ? {} : { project: row.project_id }),
    status: row.status,
    phase: row.phase,
    replaced: row.replaced,
    ...(row.error === null ? {} : { error: row.error }),
    createdAt: row.created_at,
    ...(row.done_at === null ? {} : { doneAt: row.done_at }),
  };
}
