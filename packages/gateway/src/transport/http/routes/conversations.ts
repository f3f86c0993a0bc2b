import { z } from 'zod';
import { DEFAULT_PROJECT } from '../../../config/default-project.ts';
import { findAgentNamed } from '../../../domain/agents/find-agent-named.ts';
import { notFound } from '../../../domain/api-error.ts';
import {
  type Conversation,
  type ConversationUser,
  createConversation,
  getConversation,
} from '../../../domain/conversations/conversation.ts';
import { conversationMessages } from '../../../domain/conversations/conversation-messages.ts';
import { deleteIdleConversation } from '../../../domain/conversations/delete-idle-conversation.ts';
import { assertMayChat } from '../../../domain/conversations/may-chat.ts';
import { newContextId, shownContextId } from '../../../domain/conversations/own-conversation-id.ts';
import { personIn } from '../../../domain/conversations/person-in.ts';
import { sharesSpace } from '../../../domain/conversations/shares-space.ts';
import { getEntity } from '../../../domain/entities/entity.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import { eraseConversation } from '../../../domain/erasure/delete-erased.ts';
import type { AgentRow } from '../../../ports/store/schema/tables.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { viewOfCaller } from '../../../runtime/chat/turn-request.ts';
import { messagesSchema } from '../chat-answer.ts';
import { conversationUser } from '../conversation-user.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, metadataField, ownIdField, positionFields } from '../fields.ts';
import { eraseField, erasureSchema } from '../schemas/erasure.ts';

const contextFields = {
  id: z.string(),
  agent_id: z.string(),
  entity_id: z.string().optional().meta({ description: 'The entity that may use it with its token.' }),
  metadata: metadataField,
  created_at: z.int(),
};

/** Conversations of the chat endpoints, at the root and under /api. */
export const conversationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/contexts',
    alias: '/api/contexts',
    summary: 'Create a conversation',
    description: 'It is a conversation with one agent. With a token, the agent must share a space with its entity.',
    access: 'entity',
    body: z.strictObject({
      id: ownIdField,
      agent: idField.optional().meta({ description: 'The id or name of the agent. Default: the only agent.' }),
      agent_id: idField.optional().meta({ description: 'The same as `agent`.' }),
      entity_id: idField.optional().meta({ description: 'Who may use it with a token. With a token: its own entity.' }),
      metadata: metadataField.optional(),
    }),
    status: 201,
    answer: z.strictObject(contextFields).meta({ id: 'Conversation', description: 'A conversation with an agent.' }),
    refusals: [404, 409],
    audit: ({ id, agent_id }: { id: string; agent_id: string }) => ({
      subject: { kind: 'conversation', id },
      projectOf: { kind: 'agent', id: agent_id },
    }),
    async handle({ caller, body }, tx) {
      const user = conversationUser(caller);
      const { id, agent = body.agent_id, entity_id: entityId, metadata } = body;
      if (body.agent_id !== undefined && body.agent_id !== agent)
        throw invalid('agent_id', 'must be absent if agent is set, or have the same value.');
      const agentRow = await findAgentNamed(tx.db, agent, viewOfCaller(user));
      const { id: agentId } = agentRow;
      await assertMayChat(tx.db, { agentId, name: agent ?? agentId }, user);
      if (user.kind === 'entity' && entityId !== undefined && entityId !== user.entityId)
        throw invalid('entity_id', "must be absent or the token's own entity.");
      if (user.kind === 'key' && entityId !== undefined) await assertSameProject(tx, entityId, agentRow);
      const ownerId = user.kind === 'entity' ? user.entityId : (entityId ?? (await personIn(tx.db, user, agentRow)));
      // A member's right ends with the membership. If the person shares no space with the agent, the key has granted the right.
      const isGiven =
        user.kind === 'key' && entityId !== undefined && !(await sharesSpace(tx.db, { agentId, entityId }));
      const newId = id === undefined ? undefined : await newContextId(tx.db, id, user, ownerId);
      return toWire(await createConversation(tx, { id: newId, agentId, ownerId, metadata, isGiven }), user);
    },
  }),
  endpoint({
    method: 'get',
    path: '/contexts/{id}',
    alias: '/api/contexts/{id}',
    summary: 'Get a conversation and its messages',
    description: 'Oldest first.',
    access: 'entity',
    query: z.strictObject({ ...positionFields }),
    answer: z
      .strictObject({
        ...contextFields,
        messages: messagesSchema,
        next: z.string().optional().meta({ description: 'The cursor of the next page. Absent on the last page.' }),
      })
      .meta({ id: 'ConversationWithMessages', description: 'A conversation and a page of its messages.' }),
    async handle({ caller, params, query }, tx) {
      const user = conversationUser(caller);
      const conversation = await getConversation(tx.db, params.id, user);
      const { items: messages, next } = await conversationMessages(tx.db, conversation.id, query);
      return { ...toWire(conversation, user), messages, ...(next === undefined ? {} : { next }) };
    },
  }),
  endpoint({
    method: 'delete',
    path: '/contexts/{id}',
    alias: '/api/contexts/{id}',
    summary: 'Delete a conversation with its runs',
    description:
      'Refused with 409 while a run goes on in it, or a call of it waits for an answer. With `erase=true` it is never refused: its run is cancelled, copies of its texts are erased too, and it is deleted when that is done.',
    access: 'key',
    query: z.strictObject({ erase: eraseField }),
    answer: z.strictObject({ id: z.string(), erasure: erasureSchema.optional() }),
    refusals: [409],
    handle({ caller, params, query }, tx) {
      const user = conversationUser(caller);
      return query.erase === true
        ? eraseConversation(tx, params.id, user)
        : deleteIdleConversation(tx, params.id, user);
    },
  }),
];

/** A conversation and its owner belong to one project: for agents of others, the entity does not exist. */
async function assertSameProject(tx: Tx, entityId: string, { project_id }: AgentRow): Promise<void> {
  const { project = DEFAULT_PROJECT } = await getEntity(tx.db, entityId);
  if (project !== project_id) throw notFound('entity', entityId);
}

function toWire({ id, agentId, ownerId, metadata, createdAt }: Conversation, user: ConversationUser) {
  const owner = ownerId === undefined ? {} : { entity_id: ownerId };
  return { id: shownContextId(id, user), agent_id: agentId, ...owner, metadata, created_at: createdAt };
}
