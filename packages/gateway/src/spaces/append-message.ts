import { newId } from '../new-id.ts';
import { toJson } from '../store/json.ts';
import type { Tx } from '../store/store.ts';
import type { MessageRow, SpaceRow } from '../store/tables.ts';

export type AppendedMessage = Pick<MessageRow, 'entity_id' | 'kind' | 'metadata' | 'status'> & {
  readonly text: string;
} & Partial<Pick<MessageRow, 'id' | 'reply_to' | 'call_id' | 'client_message_id' | 'run_id'>>;

/** The next message of a space whose row is locked: that is what keeps the numbers without gaps. */
export async function appendMessage(tx: Tx, space: SpaceRow, { text, ...given }: AppendedMessage): Promise<MessageRow> {
  const now = tx.now();
  const row: MessageRow = {
    id: newId(),
    reply_to: null,
    call_id: null,
    client_message_id: null,
    run_id: null,
    ...given,
    space_id: space.id,
    seq: space.next_seq,
    content: toJson(text),
    created_at: now,
    updated_at: now,
  };
  await tx.db.insertInto('messages').values(row).execute();
  await tx.db
    .updateTable('spaces')
    .set({ next_seq: space.next_seq + 1 })
    .where('id', '=', space.id)
    .execute();
  return row;
}
