import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { Services } from '../../ports/services.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { EntityRow, Json, MessageRow, SpaceRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { attachToSpace } from '../artifacts/attachment.ts';
import { isId, plainText } from '../entities/column-text.ts';
import { invalid, tooLarge } from '../entities/invalid.ts';
import { type Metadata, toMetadata } from '../entities/metadata.ts';
import type { View } from '../projects/view.ts';
import { spaceStream } from '../streams/stream-names.ts';
import { appendMessage } from './append-message.ts';
import { lockSpace } from './lock-space.ts';
import { type Message, toMessage } from './message.ts';
import {
  checkInboxes,
  findHearings,
  findRecipients,
  type Hearing,
  notifyAgents,
  type Recipient,
} from './notify-agents.ts';
import type { Space } from './space.ts';
import { assertNotArchived } from './update-space.ts';

export interface NewMessage {
  readonly spaceId: string;
  readonly entityId: string;
  readonly text: string;
  /** The id of a text message of the same space. */
  readonly replyTo?: string | undefined;
  /** An id that the sender chooses. The same id again is the same message. */
  readonly clientMessageId?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** Ids of artifacts that the sender uploaded. */
  readonly attachments?: readonly string[] | undefined;
  /** Set if the message was shown while it was written, under an id that it keeps. */
  readonly messageId?: string | undefined;
  /** The stream that showed it. Default: the message's id. */
  readonly streamId?: string | undefined;
  readonly runId?: string | undefined;
  /** What the caller can see. Default: everything. */
  readonly view?: View | undefined;
}

export interface PostedMessage {
  readonly message: Message;
  /** True if the message already existed. Then it is the stored one. */
  readonly duplicate: boolean;
  /** What happens to it for each other agent of the space. */
  readonly heardBy: readonly Hearing[];
}

/** Writes a message and pushes an event to every other agent of the space, in one transaction. */
export async function postMessage(
  services: Pick<Services, 'logger'>,
  tx: Tx,
  newMessage: NewMessage,
): Promise<PostedMessage> {
  return await writeMessage(services, tx, await preparePost(tx, newMessage));
}

/** A message that may be posted in a space whose row is locked, or the same message, if it was posted before. */
type PreparedPost = CheckedPost | { readonly before: MessageRow };

interface CheckedPost {
  readonly before?: undefined;
  readonly newMessage: NewMessage;
  readonly metadata: Json;
  readonly space: SpaceRow;
  readonly sender: EntityRow;
  readonly recipients: readonly Recipient[];
  readonly replyToSeq: number | undefined;
}

/**
 * Locks the space and checks all of the message but its attachments, without writing anything: a member of a group that leaves after a write
 * undoes the others. Between this and `writeMessage` the transaction must not post in the space.
 */
export async function preparePost(tx: Tx, newMessage: NewMessage): Promise<PreparedPost> {
  const { spaceId, entityId } = newMessage;
  const [space, sender, before, members] = await pipeline(
    lockSpace(tx, spaceId),
    findSender(tx, newMessage),
    findPosted(tx, newMessage),
    findRecipients(tx, { spaceId, senderId: entityId }),
  );
  if (!isSpaceVisible({ id: spaceId, project: space.project_id }, newMessage.view)) throw notFound('space', spaceId);
  // Checked before anything is refused: a repeated message gets the same response as the first time.
  if (before !== undefined) return { before };
  assertNotArchived(space);
  const replyToSeq = await assertPostable(tx, tx.db, newMessage);
  if (newMessage.messageId !== undefined) plainText(newMessage.messageId, 'messageId', { min: 1, max: 200 });
  const metadata = toMetadata(newMessage.metadata);
  // Last, because it is the one reason that goes away by itself.
  return { newMessage, metadata, space, sender, replyToSeq, recipients: await checkInboxes(tx, sender, members) };
}

export async function writeMessage(
  services: Pick<Services, 'logger'>,
  tx: Tx,
  prepared: PreparedPost,
): Promise<PostedMessage> {
  if (prepared.before !== undefined) {
    const { before } = prepared;
    return { message: toMessage(before), duplicate: true, heardBy: await findHearings(tx, before.id) };
  }
  const { newMessage, metadata, space, sender, recipients, replyToSeq } = prepared;
  const { spaceId, entityId } = newMessage;
  const attachments = await attachToSpace(tx, newMessage);
  const row = appendMessage(tx, space, {
    ...(newMessage.messageId === undefined ? {} : { id: newMessage.messageId }),
    entity_id: entityId,
    kind: 'text',
    text: newMessage.text,
    reply_to: newMessage.replyTo ?? null,
    metadata,
    client_message_id: newMessage.clientMessageId ?? null,
    status: 'complete',
    run_id: newMessage.runId ?? null,
    attachments: attachments.length === 0 ? null : toJson(attachments),
  });
  const message = toMessage(row);
  const heardBy = await notifyAgents(services, tx, { space, message, replyToSeq, sender, recipients });
  tx.emit({
    stream: spaceStream(spaceId),
    type: 'message.complete',
    payload: { streamId: newMessage.streamId ?? message.id, message },
  });
  tx.afterCommit(() =>
    services.logger.info('Message', {
      event: 'message',
      ...{ space: space.name, spaceId, from: sender.display_name, messageId: message.id },
      ...{ characters: newMessage.text.length, text: newMessage.text },
    }),
  );
  return { message, duplicate: false, heardBy };
}

/** Every post locks the row of the space anyway, so this costs nothing. */
export function isSpaceVisible(
  { id, project: own = DEFAULT_PROJECT }: Pick<Space, 'id' | 'project'>,
  { project = own, spaces }: View = {},
): boolean {
  return project === own && spaces?.includes(id) !== false;
}

async function findPosted(
  tx: Tx,
  { spaceId, entityId, clientMessageId, messageId }: NewMessage,
): Promise<MessageRow | undefined> {
  if (clientMessageId !== undefined) {
    const id = plainText(clientMessageId, 'clientMessageId', { min: 1, max: 200 });
    const [posted] = await postedByClient(tx.db, { spaceId, entityId, id });
    if (posted !== undefined) return posted;
  }
  const [posted] =
    messageId !== undefined && isId(messageId) ? await postedAs(tx.db, { spaceId, entityId, id: messageId }) : [];
  return posted;
}

type PostedParams = Params<{ spaceId: string; entityId: string; id: string }>;

const postedByClient = statement((db, { spaceId, entityId, id }: PostedParams) =>
  ownMessages(db, { spaceId, entityId }).where('client_message_id', '=', id),
);
const postedAs = statement(
  (db, { spaceId, entityId, id }: PostedParams) => ownMessages(db, { spaceId, entityId }).where('id', '=', id),
  { types: { spaceId: 'text', entityId: 'text', id: 'text' } },
);

function ownMessages(db: Kysely<Tables>, { spaceId, entityId }: Pick<PostedParams, 'spaceId' | 'entityId'>) {
  return db
    .selectFrom('messages')
    .select(COLUMNS.messages)
    .where('space_id', '=', spaceId)
    .where('entity_id', '=', entityId);
}

/** Throws if the text, or the message it replies to, is not acceptable. Returns the number of that message. */
export async function assertPostable(
  { limits }: Pick<Services, 'limits'>,
  db: Kysely<Tables>,
  newMessage: Pick<NewMessage, 'spaceId' | 'text' | 'replyTo' | 'attachments'>,
): Promise<number | undefined> {
  assertText(newMessage, limits.messageCharacters);
  return await assertRepliable(db, newMessage);
}

function assertText({ text, attachments = [] }: Pick<NewMessage, 'text' | 'attachments'>, limit: number): void {
  if (text.length > limit) throw tooLarge('text', { limit, came: text.length, unit: 'characters' });
  if (text.trim() === '' && attachments.length === 0) throw invalid('text', 'must not be empty.');
}

async function assertRepliable(
  db: Kysely<Tables>,
  { spaceId, replyTo }: Pick<NewMessage, 'spaceId' | 'replyTo'>,
): Promise<number | undefined> {
  if (replyTo === undefined) return undefined;
  const target = isId(replyTo)
    ? await db
        .selectFrom('messages')
        .select(['kind', 'seq'])
        .where('id', '=', replyTo)
        .where('space_id', '=', spaceId)
        .executeTakeFirst()
    : undefined;
  if (target === undefined) throw invalid('replyTo', 'must be the id of a message in this space.');
  if (target.kind === 'tool') throw invalid('replyTo', 'must not be the card of a tool call. Reply to a text message.');
  return target.seq;
}

/** Throws "no such space" if the sender is not in the space. */
async function findSender(tx: Tx, { spaceId, entityId }: NewMessage): Promise<EntityRow> {
  const [sender] = isId(spaceId) && isId(entityId) ? await findMember(tx.db, { spaceId, entityId }) : [];
  if (sender === undefined) throw notFound('space', spaceId);
  return sender;
}

const findMember = statement(
  (db, { spaceId, entityId }: Params<{ spaceId: string; entityId: string }>) =>
    db
      .selectFrom('memberships')
      .innerJoin('entities', 'entities.id', 'memberships.entity_id')
      .select(COLUMNS.entities)
      .where('memberships.space_id', '=', spaceId)
      .where('memberships.entity_id', '=', entityId)
      .where('memberships.left_at', 'is', null),
  { types: { spaceId: 'text', entityId: 'text' } },
);
