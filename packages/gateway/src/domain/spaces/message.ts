import { fromJson, toJson, withJsonField } from '../../ports/store/schema/json.ts';
import type { Json, MessageRow, MessageStatus } from '../../ports/store/schema/tables.ts';
import type { Attachment } from '../artifacts/attachment.ts';
import type { Metadata } from '../entities/metadata.ts';
import type { CardCall } from './card-call.ts';

/** A message in a space, or the card of a tool call. */
export interface Message {
  readonly id: string;
  readonly spaceId: string;
  /** Counts 1, 2, 3 … within the space, without gaps. */
  readonly seq: number;
  readonly entityId: string;
  readonly kind: 'text' | 'tool';
  /** Empty for a card. */
  readonly text: string;
  readonly replyTo?: string;
  readonly status: MessageStatus;
  /** The files that were attached to it. Absent if there are none. */
  readonly attachments?: readonly Attachment[];
  /** For a card: `{ toolName, input, output }`. */
  readonly metadata: Metadata;
  readonly runId?: string;
  readonly callId?: string;
  /** Set on the card of a call that waits or waited for an answer. */
  readonly call?: CardCall;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function toMessage(row: MessageRow): Message {
  const call = row.call === null ? {} : { call: fromJson<CardCall>(row.call) };
  return { ...fieldsOf(row), metadata: fromJson<Metadata>(row.metadata), ...call };
}

/** The message as JSON text. Its metadata, which may be large, is text already. */
export function toMessageJson(row: MessageRow): Json {
  const text = withJsonField(toJson(fieldsOf(row)), 'metadata', row.metadata);
  return row.call === null ? text : withJsonField(text, 'call', row.call);
}

function fieldsOf(row: MessageRow): Omit<Message, 'metadata' | 'call'> {
  return {
    id: row.id,
    spaceId: row.space_id,
    seq: row.seq,
    entityId: row.entity_id,
    kind: row.kind,
    text: fromJson<string>(row.content),
    ...(row.reply_to === null ? {} : { replyTo: row.reply_to }),
    status: row.status,
    ...(row.attachments === null ? {} : { attachments: fromJson<readonly Attachment[]>(row.attachments) }),
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    ...(row.call_id === null ? {} : { callId: row.call_id }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
