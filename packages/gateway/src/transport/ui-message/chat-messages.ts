import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { attachedId } from '../../domain/artifacts/attachment.ts';
import { listTurns, type StoredTurn } from '../../domain/conversations/list-turns.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { storedChunks } from './stored-chunks.ts';
import { toParts, type UiMessagePart } from './ui-parts.ts';

/** A `UIMessage` of the AI SDK. */
export interface UiChatMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UiMessagePart[];
}

export const historySchema: z.ZodType = z.array(
  z
    .strictObject({
      id: z.string(),
      role: z.enum(['user', 'assistant']),
      parts: z.array(z.looseObject({ type: z.string() })),
    })
    .meta({ id: 'UIMessage', description: 'A message in the format of the AI SDK.' }),
);

interface ChatMessagesOptions {
  /** The number of turns. */
  readonly limit: number;
  /** The id of a message of the history: only turns before its own turn are returned. */
  readonly before?: string | undefined;
}

/** The newest turns of a chat, oldest first. A turn that is still running has only its user message: its answer is streamed. */
export async function chatMessages(
  db: Kysely<Tables>,
  chatId: string,
  { limit, before }: ChatMessagesOptions,
): Promise<readonly UiChatMessage[]> {
  const turns = await listTurns(db, chatId, { limit, before: before === undefined ? undefined : runOfMessage(before) });
  return (await Promise.all(turns.map((turn) => messagesOf(db, chatId, turn)))).flat();
}

/** The run that a message of the history belongs to. A message whose id the page chose has none. */
export function runOfMessage(messageId: string): string {
  return messageId.replace(/:\d+$/, '');
}

async function messagesOf(db: Kysely<Tables>, chatId: string, turn: StoredTurn): Promise<readonly UiChatMessage[]> {
  const { runIds, entries, isOpen } = turn;
  const id = runIds[0] ?? '';
  const told = entries.flatMap((entry) => (entry.kind === 'message' ? toMessage(entry.message) : []));
  const before = told.map((message, index) => ({ id: `${id}:${index}`, ...message }));
  if (isOpen) return before;
  const parts = toParts(await storedChunks(db, chatId, entries));
  // The same id that the stream of this turn uses.
  return parts.length === 0 ? before : [...before, { id, role: 'assistant', parts }];
}

function toMessage(message: LanguageModelV4Message): readonly Omit<UiChatMessage, 'id'>[] {
  if (message.role !== 'user' && message.role !== 'assistant') return [];
  const parts = message.content.flatMap((part): readonly UiMessagePart[] => {
    if (part.type === 'text')
      return [{ type: 'text', text: part.text, ...(message.role === 'user' ? {} : { state: 'done' }) }];
    return part.type === 'file' ? fileParts(part) : [];
  });
  return parts.length === 0 ? [] : [{ role: message.role, parts }];
}

type FilePart = Extract<Extract<LanguageModelV4Message, { role: 'user' }>['content'][number], { type: 'file' }>;

function fileParts({
  mediaType,
  filename,
  data,
}: Pick<FilePart, 'mediaType' | 'filename' | 'data'>): readonly UiMessagePart[] {
  const name = filename === undefined ? {} : { filename };
  if (data.type === 'url') return [{ type: 'file', mediaType, url: data.url.toString(), ...name }];
  const id = attachedId({ type: 'file', data });
  if (id !== undefined) return [{ type: 'file', mediaType, url: `/api/artifacts/${id}`, ...name }];
  if (data.type !== 'data') return [];
  const base64 = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  return [{ type: 'file', mediaType, url: `data:${mediaType};base64,${base64}`, ...name }];
}
