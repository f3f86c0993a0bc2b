import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
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

function seqOf(path: string, value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isSafeInteger(value) || value < 0))
    throw invalid(path, `must be the seq of a message, a whole number from 0, not ${value}.`);
  return value;
}
