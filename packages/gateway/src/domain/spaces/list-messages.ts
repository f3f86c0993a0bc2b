import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { ApiError } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { pageLimit } from '../entities/page.ts';
import { type Message, toMessage } from './message.ts';

export interface MessageFilter {
  readonly spaceId: string;
  /** The newest messages with a smaller `seq`. */
  readonly before?: number | undefined;
  /** The oldest messages with a larger `seq`. */
  readonly after?: number | undefined;
  /** 1–200. Default 50. */
  readonly limit?: number | undefined;
}

export interface MessagePage {
  /** In the order of their `seq`. */
  readonly items: readonly Message[];
  /** True if there are more: older ones, or newer ones with `after`. */
  readonly hasMore: boolean;
}

/** Lists the newest messages, unless `before` or `after` is set. The caller checks that the reader is a member. */
export async function listMessages(db: Kysely<Tables>, filter: MessageFilter): Promise<MessagePage> {
  const limit = pageLimit(filter.limit);
  const before = seqOf('before', filter.before);
  const after = seqOf('after', filter.after);
  if (!isId(filter.spaceId)) return { items: [], hasMore: false };
  let query = db.selectFrom('messages').selectAll().where('space_id', '=', filter.spaceId);
  if (before !== undefined) query = query.where('seq', '<', before);
  if (after !== undefined) query = query.where('seq', '>', after);
  const rows = await query
    .orderBy('seq', after === undefined ? 'desc' : 'asc')
    .limit(limit + 1)
    .execute();
  const shown = rows.slice(0, limit).map(toMessage);
  return { items: after === undefined ? shown.reverse() : shown, hasMore: rows.length > limit };
}

/**
 * Refuses an `after` that no message has had. After a restored backup, a client that asks for newer messages than it has would get an empty
 * page until the space is as long as it was, and then miss what was written before.
 */
export async function assertNotAhead(
  db: Kysely<Tables>,
  { spaceId, after }: Pick<MessageFilter, 'spaceId' | 'after'>,
): Promise<void> {
  if (after === undefined) return;
  const space = await db.selectFrom('spaces').select('next_seq').where('id', '=', spaceId).executeTakeFirst();
  const lastSeq = (space?.next_seq ?? 1) - 1;
  if (after <= lastSeq) return;
  const message = `after must be the seq of a message of this space, at most ${lastSeq}, not ${after}. If you had that message, a backup was restored: load the messages again without it.`;
  throw new ApiError('invalid_request', message, { details: { path: 'after', lastSeq } });
}

function seqOf(path: string, value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isSafeInteger(value) || value < 0))
    throw invalid(path, `must be the seq of a message, a whole number from 0, not ${value}.`);
  return value;
}
