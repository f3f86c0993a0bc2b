import { insertRow } from '../../ports/store/insert-row.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { MessageRow, SpaceRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { newId } from '../new-id.ts';

export type AppendedMessage = Pick<MessageRow, 'entity_id' | 'kind' | 'metadata' | 'status'> & {
  readonly text: string;
} & Partial<Pick<MessageRow, 'id' | 'reply_to' | 'call_id' | 'call' | 'client_message_id' | 'run_id' | 'attachments'>>;

/** Appends a message to a space whose row is locked. The lock keeps the numbers without gaps. */
export function appendMessage(tx: Tx, space: SpaceRow, { text, ...fields }: AppendedMessage): MessageRow {
  const now = tx.now();
  const row: MessageRow = {
    id: newId(),
    reply_to: null,
    call_id: null,
    call: null,
    client_message_id: null,
    run_id: null,
    attachments: null,
    ...fields,
    space_id: space.id,
    seq: space.next_seq,
    content: toJson(text),
    created_at: now,
    updated_at: now,
  };
  tx.send(insertMessage, row);
  tx.send(countMessage, { spaceId: space.id });
  return row;
}

const insertMessage = insertRow('messages', { numbers: ['seq', 'created_at', 'updated_at'] });

const countMessage = statement(
  (db, { spaceId }: Params<{ spaceId: string }>) =>
    db
      .updateTable('spaces')
      .set((eb) => ({ next_seq: eb('next_seq', '+', 1) }))
      .where('id', '=', spaceId),
  { types: { spaceId: 'text' }, key: 'spaceId' },
);
