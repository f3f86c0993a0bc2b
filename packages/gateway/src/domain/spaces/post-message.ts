import type { Kysely } from 'kysely';
import type { Services } from '../../ports/services.ts';
import { COLUMNS } from '../../ports/store/columns.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EntityRow, MessageRow, Tables } from '../../ports/store/tables.ts';
import { notFound } from '../api-error.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { invalid, tooLarge } from '../entities/invalid.ts';
import { type Metadata, toMetadata } from '../entities/metadata.ts';
import { emit, spaceChannel } from '../streams/emit.ts';
import { appendMessage } from './append-message.ts';
import { lockSpace } from './lock-space.ts';
import { requireMember } from './membership.ts';
import { type Message, toMessage } from './message.ts';
import { findListeners, tellAgents } from './tell-agents.ts';

export interface NewMessage {
  readonly spaceId: string;
  readonly entityId: string;
  readonly text: string;
  /** The id of a text message of the same space. */
  readonly replyTo?: string | undefined;
  /** The sender's own id of it: the same one again is the same message. */
  readonly clientMessageId?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** Where it was shown before it was whole, under an id that it keeps. */
  readonly messageId?: string | undefined;
  /** Of the stream that showed it. Default: the message's id. */
  readonly streamId?: string | undefined;
  readonly runId?: string | undefined;
}

export interface PostedMessage {
  readonly message: Message;
  /** It was there already: this is the one. */
  readonly duplicate: boolean;
}

/** Writes a message and tells every other agent of the space, in one transaction. */
export async function postMessage(services: Services, tx: Tx, given: NewMessage): Promise<PostedMessage> {
  const { spaceId, entityId } = given;
  const [space, , before, sender, listeners] = await pipeline(
    lockSpace(tx, spaceId),
    requireMember(tx.db, spaceId, entityId),
    findPosted(tx, given),
    findSender(tx, entityId),
    findListeners(tx, { spaceId, senderId: entityId }),
  );
  // Before anything else is refused: a repetition asks for an answer that was given already.
  if (before !== undefined) return { message: toMessage(before), duplicate: true };
  await assertPostable(services, tx.db, given);
  const row = appendMessage(tx, space, {
    ...(given.messageId === undefined ? {} : { id: plainText(given.messageId, 'messageId', { min: 1, max: 200 }) }),
    entity_id: entityId,
    kind: 'text',
    text: given.text,
    reply_to: given.replyTo ?? null,
    metadata: toMetadata(given.metadata),
    client_message_id: given.clientMessageId ?? null,
    status: 'complete',
    run_id: given.runId ?? null,
  });
  const message = toMessage(row);
  await tellAgents(services, tx, { space, message, sender, listeners });
  emit(services, tx, {
    channel: spaceChannel(spaceId),
    type: 'message.complete',
    payload: { streamId: given.streamId ?? message.id, message },
  });
  return { message, duplicate: false };
}

async function findPosted(
  tx: Tx,
  { spaceId, entityId, clientMessageId, messageId }: NewMessage,
): Promise<MessageRow | undefined> {
  const own = tx.db
    .selectFrom('messages')
    .selectAll()
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId);
  if (clientMessageId !== undefined) {
    const id = plainText(clientMessageId, 'clientMessageId', { min: 1, max: 200 });
    const posted = await own.where('client_message_id', '=', id).executeTakeFirst();
    if (posted !== undefined) return posted;
  }
  return messageId === undefined || !isId(messageId)
    ? undefined
    : await own.where('id', '=', messageId).executeTakeFirst();
}

/** Whether a member's message would be taken: what it says, and what it replies to. */
export async function assertPostable(
  { limits }: Pick<Services, 'limits'>,
  db: Kysely<Tables>,
  given: Pick<NewMessage, 'spaceId' | 'text' | 'replyTo'>,
): Promise<void> {
  assertText(given.text, limits.messageCharacters);
  await assertRepliable(db, given);
}

function assertText(text: string, limit: number): void {
  if (text.length > limit) throw tooLarge('text', { limit, came: text.length, unit: 'characters' });
  if (text.trim() === '') throw invalid('text', 'must not be empty.');
}

async function assertRepliable(
  db: Kysely<Tables>,
  { spaceId, replyTo }: Pick<NewMessage, 'spaceId' | 'replyTo'>,
): Promise<void> {
  if (replyTo === undefined) return;
  const answered = isId(replyTo)
    ? await db
        .selectFrom('messages')
        .select('kind')
        .where('id', '=', replyTo)
        .where('space_id', '=', spaceId)
        .executeTakeFirst()
    : undefined;
  if (answered === undefined) throw invalid('replyTo', 'must be the id of a message of this space.');
  if (answered.kind === 'tool') throw invalid('replyTo', 'must not be the message of a tool: answer what was said.');
}

async function findSender(tx: Tx, entityId: string): Promise<EntityRow> {
  const [sender] = isId(entityId) ? await findEntity(tx.db, { entityId }) : [];
  if (sender === undefined) throw notFound('entity', entityId);
  return sender;
}

const findEntity = statement((db, { entityId }: Params<{ entityId: string }>) =>
  db.selectFrom('entities').select(COLUMNS.entities).where('id', '=', entityId),
);
