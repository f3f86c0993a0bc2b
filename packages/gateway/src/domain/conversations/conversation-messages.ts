import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { numberCursor, type Page, type PageOptions, pageLimit, toPage } from '../entities/page.ts';
import { isSpoken } from '../transcript/machine-rows.ts';
import { COMPACTION, fromEntryPayload } from '../transcript/transcript-row.ts';
import { type ConversationMessage, toConversation } from './to-messages.ts';

/** The messages and calls of a conversation, oldest first. A page covers `limit` entries of the transcript. */
export async function conversationMessages(
  db: Kysely<Tables>,
  contextId: string,
  page: PageOptions,
): Promise<Page<ConversationMessage>> {
  const limit = pageLimit(page.limit);
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['seq', 'payload'])
    .where('thread_id', '=', contextId)
    .where('seq', '>', numberCursor(page.cursor) ?? 0)
    .where('kind', '!=', COMPACTION)
    .orderBy('seq')
    .limit(limit + 1)
    .execute();
  const { items, ...rest } = toPage(rows, {
    limit,
    cursorOf: ({ seq }) => String(seq),
    toItem: ({ payload }) => fromEntryPayload(payload).entry,
  });
  return { ...rest, items: toConversation(items.filter(isSpoken)) };
}
