import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { attachedInWords, messageInWords, messageNumber } from '../inbox/inbox-words.ts';
import { jsonInWords, nameInWords } from '../plain-words.ts';
import { clip } from '../transcript/clip.ts';
import type { Message } from './message.ts';

/** Messages as a model reads them, one line each: see inbox-words.ts. */
export async function messagesInWords(db: Kysely<Tables>, messages: readonly Message[]): Promise<readonly string[]> {
  if (messages.length === 0) return [];
  const senders = await db
    .selectFrom('entities')
    .select(['id', 'display_name as name', 'kind'])
    .where('id', 'in', [...new Set(messages.map(({ entityId }) => entityId))])
    .execute();
  const replied = messages.flatMap(({ replyTo }) => (replyTo === undefined ? [] : [replyTo]));
  const seqs =
    replied.length === 0
      ? []
      : await db
          .selectFrom('messages')
          .select(['id', 'seq'])
          .where('id', 'in', [...new Set(replied)])
          .execute();
  return messages.map((message) => {
    const { seq, entityId, replyTo } = message;
    const from = senders.find(({ id }) => id === entityId) ?? { name: entityId, kind: 'human' as const };
    const repliedTo = seqs.find(({ id }) => id === replyTo)?.seq;
    const reply = repliedTo === undefined ? undefined : messageNumber(repliedTo);
    return messageInWords({ id: messageNumber(seq), from, reply, text: textOf(message) });
  });
}

/** The card of a call says what was called and how it is. */
function textOf({ kind, text, attachments = [], status, metadata }: Message): string {
  if (kind === 'text') return [text, ...attachments.map(attachedInWords)].join('\n').trim();
  const { toolName, input } = metadata;
  return `called ${nameInWords(String(toolName))} ${clip(jsonInWords(input), MAX_INPUT)} (${STATUS[status]})`;
}

const MAX_INPUT = 500;

const STATUS: Readonly<Record<Message['status'], string>> = {
  running: 'running',
  complete: 'done',
  error: 'failed',
  requires_action: 'waiting for an answer',
  expired: 'expired',
  cancelled: 'cancelled',
};
