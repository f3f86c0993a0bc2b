import { findAgentNamed } from '../../domain/agents/find-agent-named.ts';
import { ifNotFound, notFound } from '../../domain/api-error.ts';
import { getConversation } from '../../domain/conversations/conversation.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type TurnCaller, viewOfCaller } from '../../runtime/chat/turn-request.ts';

export interface NamedChat {
  readonly caller: TurnCaller;
  /** An agent's id or name. */
  readonly agent: string;
  /** The chat's id as the page knows it. */
  readonly chatId: string;
}

/**
 * The stored id of a chat. Undefined if the caller has no such chat, or may no longer use it. Throws 404 if it belongs to another
 * agent.
 */
export async function findChat({ db }: Pick<Tx, 'db'>, chat: NamedChat): Promise<string | undefined> {
  const { caller, agent, chatId } = chat;
  const conversation = await getConversation(db, chatId, caller).catch(ifNotFound);
  if (conversation === undefined) return undefined;
  const { id } = await findAgentNamed(db, agent, viewOfCaller(caller));
  if (conversation.agentId !== id) throw notFound('conversation', chatId);
  return conversation.id;
}
