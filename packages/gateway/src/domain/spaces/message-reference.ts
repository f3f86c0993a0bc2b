import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { invalid } from '../entities/invalid.ts';
import { messageNumber } from '../inbox/inbox-words.ts';

/** The id of a message by what a model writes: its number in the space (`m12`), or its id, which is not checked. */
export async function findMessageId(db: Kysely<Tables>, spaceId: string, reference: string): Promise<string> {
  const [, digits] = /^\s*m?(\d{1,15})\s*$/i.exec(reference) ?? [];
  if (digits === undefined) return reference;
  const message = await db
    .selectFrom('messages')
    .select('id')
    .where('space_id', '=', spaceId)
    .where('seq', '=', Number(digits))
    .executeTakeFirst();
  if (message !== undefined) return message.id;
  const space = await db.selectFrom('spaces').select('next_seq').where('id', '=', spaceId).executeTakeFirst();
  const last = (space?.next_seq ?? 1) - 1;
  const known = last === 0 ? 'it has no messages' : `its messages are m1 to ${messageNumber(last)}`;
  throw invalid('replyTo', `must be the id of a message in this space: ${known}.`);
}
