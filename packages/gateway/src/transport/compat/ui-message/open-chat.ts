import { findAgentNamed } from '../../../domain/agents/find-agent-named.ts';
import { notFound } from '../../../domain/api-error.ts';
import { getContext } from '../../../domain/contexts/context.ts';
import { meantIds } from '../../../domain/contexts/own-context-id.ts';
import type { Tx } from '../../../ports/store/store.ts';
import type { TurnCaller } from '../../../runtime/chat/turn-request.ts';

export interface NamedChat {
  readonly caller: TurnCaller;
  /** An agent's id or name. */
  readonly agent: string;
  /** As the page names it. */
  readonly chatId: string;
}

/** The stored id of a chat. Throws 404 unless the caller may use it, with this agent. */
export async function openChat({ db }: Pick<Tx, 'db'>, { caller, agent, chatId }: NamedChat): Promise<string> {
  const context = await getContext(db, chatId, caller);
  const { id } = await findAgentNamed(db, agent);
  if (context.agentId !== id) throw notFound('context', chatId);
  return context.id;
}

/** The same, or undefined for a chat that the caller does not have yet. To an entity, a chat of another caller is none. */
export async function findChat(tx: Tx, chat: NamedChat): Promise<string | undefined> {
  const { caller, chatId } = chat;
  const ids = caller.kind === 'key' ? [chatId] : meantIds(chatId, caller.entityId);
  let known = tx.db.selectFrom('contexts').select('id').where('id', 'in', ids);
  if (caller.kind === 'entity') known = known.where('owner_id', '=', caller.entityId);
  return (await known.executeTakeFirst()) === undefined ? undefined : await openChat(tx, chat);
}
