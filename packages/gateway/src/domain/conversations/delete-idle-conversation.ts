import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { type ConversationUser, getConversation } from './conversation.ts';
import { deleteConversation } from './delete-conversation.ts';
import { shownContextId } from './own-conversation-id.ts';
import { lastUse } from './sweep-conversations.ts';

/**
 * Deletes a conversation because a caller asks for it. Throws 404 for one that the caller may not use, and 409 while a run goes on in it
 * or a call waits: their ends would have no place to be stored.
 */
export async function deleteIdleConversation(
  tx: Tx,
  contextId: string,
  user: ConversationUser,
): Promise<{ readonly id: string }> {
  const { id } = await getConversation(tx.db, contextId, user);
  await lockThread(tx, id);
  if ((await lastUse(tx.db, id))?.isBusy === true) throw inUse(shownContextId(id, user));
  await deleteConversation(tx, id);
  return { id: shownContextId(id, user) };
}

/** A request that is about to use the conversation comes first, and is then seen, or waits and finds no conversation. */
async function lockThread({ db, dialect }: Tx, contextId: string): Promise<void> {
  if (dialect === 'sqlite') return;
  await db.selectFrom('threads').select('id').where('id', '=', contextId).forUpdate().execute();
}

function inUse(contextId: string): ApiError {
  return new ApiError(
    'context_in_use',
    `Conversation "${contextId}" is in use: cancel its run or answer its calls first, then delete it.`,
  );
}
