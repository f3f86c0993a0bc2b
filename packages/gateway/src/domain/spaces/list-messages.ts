import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/tables.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { pageLimit } from '../entities/page.ts';
import { type Message, toMessage } from './message.ts';

export interface MessageFilter {
  readonly spaceId: string;
  /** Only those with a smaller `seq`: the newest of them. */
  readonly before?: number | undefined;
  /** Only those with a larger `seq`: the oldest of them. */
  readonly after?: number | undefined;
  /** 1–200. Default 50. */
  readonly limit?: number | undefined;
}

export interface MessagePage {
  /** In the order of their `seq`. */
  readonly items: readonly Message[];
  /** There are more that fit: older ones, or with `after` newer ones. */
  readonly hasMore: boolean;
}

/** With neither `before` nor `after`: the newest. Whether the asker is a member is the caller's to check. */
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
