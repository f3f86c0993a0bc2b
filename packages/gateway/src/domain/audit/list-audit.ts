import type { Kysely } from 'kysely';
import type { AuditRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import type { View } from '../projects/view.ts';
import type { AuditEntry, AuditKind, ShownActor } from './audit-entry.ts';
import { firstIdAt } from './first-id-at.ts';

export interface AuditFilter extends PageOptions {
  /** The id of a key, a person or a session. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The id of what was changed. */
  readonly subject?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** The first millisecond, and the one after the last. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly view: View;
}

/** Lists entries, newest first. The ids of entries are sorted by time, so one index serves the order and the period. */
export async function listAudit(db: Kysely<Tables>, filter: AuditFilter): Promise<Page<AuditEntry>> {
  const limit = pageLimit(filter.limit);
  const rows = await filtered(db, filter)
    .orderBy('audit.id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: (row) => toEntry(row, filter.view) });
}

function filtered(db: Kysely<Tables>, { actor, action, subject, kind, from, to, cursor, view }: AuditFilter) {
  const before = textCursor(cursor);
  let query = db
    .selectFrom('audit')
    .leftJoin('api_keys', 'api_keys.id', 'audit.key_id')
    .selectAll('audit')
    .select(['api_keys.name as key_name', 'api_keys.project_id as key_project']);
  if (view.project !== undefined) query = query.where('audit.project_id', '=', view.project);
  if (actor !== undefined)
    query = query.where((eb) =>
      eb.or([eb('audit.key_id', '=', actor), eb('audit.entity_id', '=', actor), eb('audit.session_id', '=', actor)]),
    );
  if (action !== undefined) query = query.where('audit.action', '=', action);
  if (subject !== undefined) query = query.where('audit.subject_id', '=', subject);
  if (kind !== undefined) query = query.where('audit.subject_kind', '=', kind);
  if (from !== undefined) query = query.where('audit.id', '>=', firstIdAt(from));
  if (to !== undefined) query = query.where('audit.id', '<', firstIdAt(to));
  return before === undefined ? query : query.where('audit.id', '<', before);
}

interface ListedRow extends AuditRow {
  readonly key_name: string | null;
  readonly key_project: string | null;
}

function toEntry(row: ListedRow, { project }: View): AuditEntry {
  const { subject_kind, subject_id, address, request_id, entity_id } = row;
  const isHidden = project !== undefined && row.key_id !== null && row.key_project !== project;
  const isAddressShown = address !== null && (!isHidden || entity_id !== null);
  return {
    id: row.id,
    at: row.at,
    project: row.project_id,
    actor: {
      ...(isHidden ? { operator: true } : keyOf(row)),
      ...(entity_id === null ? {} : { entityId: entity_id }),
    },
    action: row.action,
    ...(subject_kind === null || subject_id === null
      ? {}
      : { subject: { kind: subject_kind as AuditKind, id: subject_id } }),
    ...(isAddressShown ? { address } : {}),
    ...(request_id === null ? {} : { requestId: request_id }),
    status: row.status,
  };
}

function keyOf({ key_id, key_name, session_id }: ListedRow): ShownActor {
  return {
    ...(key_id === null ? {} : { keyId: key_id }),
    ...(key_name === null ? {} : { keyName: key_name }),
    ...(session_id === null ? {} : { sessionId: session_id }),
  };
}
