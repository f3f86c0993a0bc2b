import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import { insertRow } from '../../ports/store/insert-row.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { ConversationRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { getAgent } from '../agents/agent.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Metadata, toMetadata } from '../entities/metadata.ts';
import { newId } from '../new-id.ts';
import { idTaken } from '../own-id.ts';
import { EVERYTHING, throughAgents, type View } from '../projects/view.ts';
import { meantIds, shownContextId } from './own-conversation-id.ts';
import { usableBy } from './usable-by.ts';

/** A conversation with an agent. Its thread has the same id. */
export interface Conversation {
  readonly id: string;
  readonly agentId: string;
  /** The entity that may use it with its token. Without one, only keys may. */
  readonly ownerId?: string;
  readonly metadata: Metadata;
  readonly createdAt: number;
  /** True if it is deleted sooner than others: see sweep-conversations.ts. */
  readonly isBrief: boolean;
}

export interface NewConversation {
  /** An id from `newContextId`. Default: a new one. */
  readonly id?: string | undefined;
  readonly agentId: string;
  readonly ownerId?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** True if it is created for one call, or for an answer that is not saved. */
  readonly isBrief?: boolean;
  /** True if the owner may use it without sharing a space with the agent. */
  readonly isGiven?: boolean;
}

/** Who uses a conversation: the holder of a key may use all of them that it can see, an entity only its own. */
export type ConversationUser =
  | { readonly kind: 'key'; readonly view?: View | undefined }
  | { readonly kind: 'entity'; readonly entityId: string };

/** Creates a conversation and its thread. Throws 404 without the agent, and 409 if the id is taken. */
export async function createConversation(tx: Tx, wanted: NewConversation): Promise<Conversation> {
  await getAgent(tx.db, wanted.agentId);
  return await insertConversation(tx, wanted);
}

/** The same, for an agent that was already looked up. */
export async function insertConversation(tx: Tx, wanted: NewConversation): Promise<Conversation> {
  const { id = newId(tx.now()), agentId, ownerId, metadata, isBrief = false, isGiven = false } = wanted;
  const [thread] = await insertThread(tx.db, { id, agentId, epoch: firstEpoch(tx) });
  if (thread === undefined) throw idTaken(shownContextId(id, { kind: 'entity', entityId: ownerId }));
  const row = {
    id,
    agent_id: agentId,
    owner_id: ownerId ?? null,
    metadata: toMetadata(metadata),
    created_at: tx.now(),
    is_brief: isBrief ? (1 as const) : (0 as const),
    used_at: tx.now(),
    is_given: isGiven ? (1 as const) : (0 as const),
  };
  tx.send(insertConversationRow, row);
  return toConversation(row);
}

/**
 * An id may be used again after its conversation was deleted. A gateway that still caches the old thread must not take it for this
 * one.
 */
function firstEpoch(tx: Tx): number {
  return tx.now();
}

const insertConversationRow = insertRow('contexts');

const insertThread = statement((db, { id, agentId, epoch }: Params<{ id: string; agentId: string; epoch: number }>) =>
  db
    .insertInto('threads')
    .values({ id, kind: 'context', agent_id: agentId, lease_owner: null, lease_until: 0, epoch, state: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
);

/** Throws 404 for a conversation that does not exist, and for one that the user may not use, or no longer. */
export async function getConversation(
  db: Kysely<Tables>,
  contextId: string,
  user: ConversationUser,
): Promise<Conversation> {
  return await readConversation(selectConversation(db, contextId, user), contextId);
}

/** The same for a request that adds a message: the conversation is not deleted before the commit. */
export async function getConversationForUse(tx: Tx, contextId: string, user: ConversationUser): Promise<Conversation> {
  const row = selectConversation(tx.db, contextId, user);
  return await readConversation(tx.dialect === 'sqlite' ? row : row.forKeyShare('threads'), contextId);
}

/** Undefined if the conversation was deleted. */
export async function agentOfConversation(db: Kysely<Tables>, contextId: string): Promise<string | undefined> {
  const conversations = db.selectFrom('contexts').select('agent_id').where('id', '=', contextId);
  return (await conversations.executeTakeFirst())?.agent_id;
}

type SelectedConversation = SelectQueryBuilder<Tables, 'contexts' | 'threads', Selectable<ConversationRow>>;

function selectConversation(db: Kysely<Tables>, contextId: string, user: ConversationUser): SelectedConversation {
  const conversations = db
    .selectFrom('contexts')
    .innerJoin('threads', 'threads.id', 'contexts.id')
    .selectAll('contexts');
  if (user.kind === 'key')
    return conversations
      .where('contexts.id', '=', contextId)
      .where(throughAgents(user.view ?? EVERYTHING, 'contexts.agent_id'));
  const meant = conversations.where('contexts.id', 'in', meantIds(contextId, user.entityId));
  // If both exist, the longer id is the one that the entity chose itself.
  return meant.where(usableBy(user.entityId)).orderBy('contexts.id', 'desc');
}

async function readConversation(query: SelectedConversation, contextId: string): Promise<Conversation> {
  const row = isId(contextId) ? await query.executeTakeFirst() : undefined;
  if (row === undefined) throw notFound('conversation', contextId);
  return toConversation(row);
}

/** Keeps the conversation for the full time, because a message in it is saved. */
export async function keepLonger(tx: Tx, { id, isBrief }: Conversation): Promise<void> {
  if (isBrief) await tx.db.updateTable('contexts').set({ is_brief: 0 }).where('id', '=', id).execute();
}

function toConversation(row: Selectable<ConversationRow>): Conversation {
  return {
    id: row.id,
    agentId: row.agent_id,
    ...(row.owner_id === null ? {} : { ownerId: row.owner_id }),
    metadata: fromJson<Metadata>(row.metadata),
    createdAt: row.created_at,
    isBrief: row.is_brief === 1,
  };
}
