import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import type { ConversationUser } from './conversation.ts';
import { sharesSpace } from './shares-space.ts';

/**
 * An entity may open conversations of the agents that share a space with it. Other agents are "not found". A key has found the agent among
 * those that it can see.
 */
export async function assertMayChat(
  db: Kysely<Tables>,
  { agentId, name }: { readonly agentId: string; readonly name: string },
  user: ConversationUser,
): Promise<void> {
  if (user.kind === 'key' || (await sharesSpace(db, { agentId, entityId: user.entityId }))) return;
  throw notFound('agent', name);
}
