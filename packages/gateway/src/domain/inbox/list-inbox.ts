import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { InboxEventType, InboxStatus, Tables } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';
import { numberCursor, type Page, type PageOptions, pageLimit, toPage } from '../entities/page.ts';
import type { InboxEvent } from './inbox-event.ts';
import type { EventRow } from './waiting-events.ts';

/** An event of an agent's inbox, as operators see it. */
export interface InboxItem {
  readonly eventId: string;
  readonly agentId: string;
  readonly type: InboxEventType;
  readonly status: InboxStatus;
  readonly priority: number;
  readonly attempts: number;
  readonly event: InboxEvent;
  /** The event is not taken before this time. */
  readonly availableAt: number;
  /** The run that took it. */
  readonly runId?: string;
  /** Why it is dead or withheld. */
  readonly error?: unknown;
  readonly createdAt: number;
}

export interface InboxFilter extends PageOptions {
  readonly agentId: string;
  readonly status?: InboxStatus | undefined;
  /** Only events that woke this run, also if a later run tried them again. */
  readonly runId?: string | undefined;
}

/** Lists events, newest first, also those of a deleted agent. */
export async function listInbox(db: Kysely<Tables>, filter: InboxFilter): Promise<Page<InboxItem>> {
  const limit = pageLimit(filter.limit);
  const before = numberCursor(filter.cursor);
  if (!isId(filter.agentId)) return { items: [] };
  let query = db.selectFrom('inbox_events').selectAll().where('thread_id', '=', filter.agentId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.runId !== undefined) {
    const eventIds = await triggerOf(db, filter.runId);
    if (eventIds.length === 0) return { items: [] };
    query = query.where('event_id', 'in', eventIds);
  }
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => String(id), toItem: toInboxItem });
}

async function triggerOf(db: Kysely<Tables>, runId: string): Promise<readonly string[]> {
  const run = isId(runId)
    ? await db.selectFrom('runs').select('trigger').where('id', '=', runId).executeTakeFirst()
    : undefined;
  return run === undefined ? [] : fromJson<{ eventId: string }[]>(run.trigger).map(({ eventId }) => eventId);
}

function toInboxItem(row: EventRow): InboxItem {
  return {
    eventId: row.event_id,
    agentId: row.thread_id,
    type: row.type,
    status: row.status,
    priority: row.priority,
    attempts: row.attempts,
    event: fromJson<InboxEvent>(row.payload),
    availableAt: row.available_at,
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    ...(row.error === null ? {} : { error: fromJson(row.error) }),
    createdAt: row.created_at,
  };
}
