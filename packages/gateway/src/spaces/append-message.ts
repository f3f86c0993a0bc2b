import { newId } from '../new-id.ts';
import { toJson } from '../store/json.ts';
import { statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';
import type { MessageRow, SpaceRow } from '../store/tables.ts';

export type AppendedMessage = Pick<MessageRow, 'entity_id' | 'kind' | 'metadata' | 'status'> & {
  readonly text: string;
} & Partial<Pick<MessageRow, 'id' | 'reply_to' | 'call_id' | 'client_message_id' | 'run_id'>>;

/** The next message of a space whose row is locked: that is what keeps the numbers without gaps. */
export function appendMessage(tx: Tx, space: SpaceRow, { text, ...given }: AppendedMessage): MessageRow {
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
  tx.leave(insertMessage(tx.db, row));
  tx.leave(countMessage(tx.db, { spaceId: space.id }));
  return row;
}

const insertMessage = statement((db, given: MessageRow) =>
  db.insertInto('messages').values({
    id: given.id,
    space_id: given.space_id,
    seq: given.seq,
    entity_id: given.entity_id,
    kind: given.kind,
    content: given.content,
    reply_to: given.reply_to,
    metadata: given.metadata,
    call_id: given.call_id,
    client_message_id: given.client_message_id,
    status: given.status,
    run_id: given.run_id,
    created_at: given.created_at,
    updated_at: given.updated_at,
  }),
);

const countMessage = statement((db, { spaceId }: { spaceId: string }) =>
  db
    .updateTable('spaces')
    .set((eb) => ({ next_seq: eb('next_seq', '+', 1) }))
    .where('id', '=', spaceId),
);
