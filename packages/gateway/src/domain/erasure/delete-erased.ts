import type { Tx } from '../../ports/store/store.ts';
import { findAgentProject } from '../agents/agent.ts';
import { type ConversationUser, getConversation } from '../conversations/conversation.ts';
import { shownContextId } from '../conversations/own-conversation-id.ts';
import { cancelRunsOfThread } from '../runs/request-cancel.ts';
import { type Erasure, orderErasure } from './erasure.ts';

/** Cancels what goes on in a conversation, and orders its erasure, which deletes it at its end. */
export async function eraseConversation(
  tx: Tx,
  contextId: string,
  user: ConversationUser,
): Promise<{ readonly id: string; readonly erasure: Erasure }> {
  const { id, agentId } = await getConversation(tx.db, contextId, user);
  await cancelRunsOfThread(tx, id);
  const project = await findAgentProject(tx.db, agentId);
  return {
    id: shownContextId(id, user),
    erasure: await orderErasure(tx, { kind: 'conversation', subjectId: id, project }),
  };
}
