import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { isSpoken } from '../transcript/machine-rows.ts';
import { COMPACTION, fromEntryPayload } from '../transcript/transcript-row.ts';
import { toConversation } from './to-messages.ts';
import type { StartedTurn } from './turn-requests.ts';

/** The texts of a conversation up to the end of a turn, without its tool calls. A message with only an image has none. */
export async function toldMessages(
  db: Kysely<Tables>,
  { runId, contextId }: StartedTurn,
): Promise<readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('thread_id', '=', contextId)
    .where('kind', '!=', COMPACTION)
    .where('seq', '<=', (eb) =>
      eb
        .selectFrom('transcript_entries as of_run')
        .select((max) => max.fn.max<number>('of_run.seq').as('last'))
        .where('of_run.thread_id', '=', contextId)
        .where('of_run.run_id', '=', runId),
    )
    .orderBy('seq')
    .execute();
  const said = toConversation(rows.map(({ payload }) => fromEntryPayload(payload).entry).filter(isSpoken));
  return said.flatMap((one) =>
    'sender' in one && one.message !== ''
      ? [{ role: one.sender === 'human' ? 'user' : 'assistant', text: one.message }]
      : [],
  );
}
