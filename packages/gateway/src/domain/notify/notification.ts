import type { Kysely } from 'kysely';
import type { NotificationRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { newId } from '../new-id.ts';
import { EVERYTHING, type View } from '../projects/view.ts';
import type { NotifyTarget, OpenTargets } from './notify-target.ts';

/** A notification as operators see it. It has no texts. */
export interface Notification {
  readonly id: string;
  readonly project: string;
  readonly target: string;
  readonly event: NotificationRow['event'];
  readonly agentId?: string;
  readonly runId?: string;
  readonly callId?: string;
  /** The person whom its link acts for. */
  readonly entityId?: string;
  readonly status: NotificationRow['status'];
  readonly attempts: number;
  /** The next attempt, while it is pending. */
  readonly nextAt?: number;
  /** Why the last attempt failed. */
  readonly error?: string;
  readonly createdAt: number;
  readonly sentAt?: number;
  readonly linkExpiresAt?: number;
  readonly linkUsedAt?: number;
}

export interface NotificationFilter extends PageOptions {
  readonly status?: NotificationRow['status'] | undefined;
  readonly target?: string | undefined;
  readonly view?: View | undefined;
}

/** Newest first. */
export async function listNotifications(
  db: Kysely<Tables>,
  { status, target, view = EVERYTHING, ...page }: NotificationFilter,
): Promise<Page<Notification>> {
  const limit = pageLimit(page.limit);
  const cursor = textCursor(page.cursor);
  let rows = db.selectFrom('notifications').selectAll().orderBy('id', 'desc');
  if (view.project !== undefined) rows = rows.where('project_id', '=', view.project);
  if (status !== undefined) rows = rows.where('status', '=', status);
  if (target !== undefined) rows = rows.where('target', '=', target);
  if (cursor !== undefined) rows = rows.where('id', '<', cursor);
  const found = await rows.limit(limit + 1).execute();
  return toPage(found, { limit, cursorOf: ({ id }) => id, toItem: toNotification });
}

/** Sends a notification again that was given up. */
export async function retryNotification(
  tx: Tx,
  targets: OpenTargets,
  { id, view = EVERYTHING }: { readonly id: string; readonly view?: View | undefined },
): Promise<Notification> {
  const row = isId(id) ? await findRow(tx.db, id, view) : undefined;
  if (row === undefined) throw notFound('notification', id);
  const [again] = await tx.db
    .updateTable('notifications')
    .set({ status: 'pending', attempts: 0, next_at: tx.now(), link_expires_at: await linkExpiry(tx, targets, row) })
    .where('id', '=', id)
    .where('status', '=', 'failed')
    .returningAll()
    .execute();
  if (again === undefined)
    throw new ApiError('not_failed', `The notification is ${row.status}. Only one that has failed can be sent again.`);
  return toNotification(again);
}

/** A link that is sent again works as long as a new one, and at most until its call expires. With its first end it could have expired already. */
async function linkExpiry(
  tx: Tx,
  targets: OpenTargets,
  { call_id: callId, target, link_expires_at: before }: NotificationRow,
): Promise<number | null> {
  const linkMs = targets.get(target)?.linkMs;
  if (before === null || linkMs === undefined) return before;
  const call = await tx.db.selectFrom('calls').select('expires_at').where('id', '=', callId).executeTakeFirst();
  return Math.min(tx.now() + linkMs, call?.expires_at ?? Number.POSITIVE_INFINITY);
}

/** Sends a message without content to a target, to see whether it arrives. */
export async function testTarget(
  tx: Tx,
  targets: OpenTargets,
  { name, view = EVERYTHING }: { readonly name: string; readonly view?: View | undefined },
): Promise<Notification> {
  const target = targets.get(name);
  if (target === undefined || (view.project !== undefined && target.project !== view.project))
    throw notFound('notification target', name);
  if (target.recipient === 'answerers')
    throw new ApiError('not_testable', 'The target sends to those who may answer a call: a test has none.');
  return toNotification(await insertTest(tx, target));
}

async function insertTest(tx: Tx, { name, project }: NotifyTarget): Promise<NotificationRow> {
  const now = tx.now();
  const id = newId(now);
  const none = { agent_id: null, run_id: null, call_id: null, scope: null, scope_id: null, entity_id: null };
  const ends = { error: null, sent_at: null, link_expires_at: null, link_used_at: null };
  return await tx.db
    .insertInto('notifications')
    .values({
      ...{ id, project_id: project, target: name, event_id: id, event: 'test', round: 0, status: 'pending' },
      ...{ attempts: 0, next_at: now, created_at: now },
      ...none,
      ...ends,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function findRow(db: Kysely<Tables>, id: string, { project }: View): Promise<NotificationRow | undefined> {
  const row = db.selectFrom('notifications').selectAll().where('id', '=', id);
  return await (project === undefined ? row : row.where('project_id', '=', project)).executeTakeFirst();
}

function toNotification(row: NotificationRow): Notification {
  return {
    id: row.id,
    project: row.project_id,
    target: row.target,
    event: row.event,
    ...optional('agentId', row.agent_id),
    ...optional('runId', row.run_id),
    ...optional('callId', row.call_id),
    ...optional('entityId', row.entity_id),
    status: row.status,
    attempts: row.attempts,
    ...optional('nextAt', row.next_at),
    ...optional('error', row.error),
    createdAt: row.created_at,
    ...optional('sentAt', row.sent_at),
    ...optional('linkExpiresAt', row.link_expires_at),
    ...optional('linkUsedAt', row.link_used_at),
  };
}

function optional<K extends string, T>(name: K, value: T | null): { readonly [name in K]?: T } {
  return value === null ? {} : ({ [name]: value } as { [name in K]: T });
}
