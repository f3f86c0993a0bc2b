import { z } from 'zod';
import { MOST_ATTACHMENTS } from '../../domain/artifacts/attachment.ts';
import type { ClientTool, UserContent } from '../../domain/conversations/turn-settings.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { OWN_ID } from '../../domain/own-id.ts';

/** The fields of a `useChat` request that the gateway reads. */
export interface UiRequestBody {
  readonly id: string;
  readonly messages: readonly UiMessage[];
  readonly trigger?: 'submit-message' | 'regenerate-message' | undefined;
  readonly messageId?: string | null | undefined;
  readonly tools?: Readonly<Record<string, UiTool>> | undefined;
}

interface UiMessage {
  readonly id: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly UiPart[];
}

type UiPart = { readonly type: string } & Readonly<Record<string, unknown>>;

interface UiTool {
  readonly description?: string | undefined;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
}

const partSchema = z.looseObject({ type: z.string().max(200) });

const messageSchema = z.looseObject({
  id: z.string().min(1).max(200),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(partSchema).max(10_000),
});

/** Other fields, which a page may add to the body, are ignored. */
export const uiRequestSchema: z.ZodType<UiRequestBody> = z.looseObject({
  id: z.string().regex(OWN_ID, { error: 'must be 1–64 characters of A–Z, a–z, 0–9, "_" and "-".' }).meta({
    description: 'The id of the chat. A new conversation gets this id.',
  }),
  messages: z.array(messageSchema).min(1).max(10_000).meta({
    description:
      'Only the newest message is read, or the answers to waiting calls. The rest is stored in the conversation.',
  }),
  trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
  messageId: z.string().max(200).nullish(),
  tools: z
    .record(
      z.string().max(200),
      z.looseObject({
        description: z.string().max(10_000).optional(),
        inputSchema: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .optional()
    .meta({ description: 'Tools that the page runs itself, by name. `inputSchema` is a JSON Schema.' }),
});

/** What a person says in a message. */
export interface UiContent {
  readonly content: UserContent;
  /** The artifacts of files whose addresses the page has from the history. */
  readonly attachments: readonly string[];
}

/** A parsed request. The rest of its history is not trusted and not read. */
export type UiRequest =
  | ({ readonly kind: 'message'; readonly id: string; readonly isEdit: boolean } & UiContent)
  /** Another answer to this message. */
  | ({ readonly kind: 'regenerate'; readonly id: string } & UiContent)
  /** The calls of the last step that the page claims to have answered, by call id. */
  | { readonly kind: 'answers'; readonly messageId: string; readonly claims: ReadonlyMap<string, UiClaim> };

/** A page's claim about a call. The stored call decides whether it counts. */
export type UiClaim =
  | { readonly kind: 'approval'; readonly isApproved: boolean; readonly reason: string | undefined }
  | { readonly kind: 'result'; readonly output: unknown }
  | { readonly kind: 'error'; readonly errorText: string }
  | { readonly kind: 'none' };

export function readUiRequest({ messages, messageId, trigger }: UiRequestBody): UiRequest {
  const last = messages.at(-1);
  // After an answer to a call, `messageId` names the message with the call, which need not be the last.
  const target = messages.findLast(({ id }) => id === messageId) ?? last;
  if (target === undefined || last === undefined) throw invalid('messages', 'must not be empty.');
  if (trigger === 'regenerate-message') {
    const asked = messages.findLast(({ role }) => role === 'user');
    if (asked === undefined) throw invalid('messages', 'must contain the message that should be answered again.');
    return { kind: 'regenerate', id: asked.id, ...contentOf(asked) };
  }
  if (target.role === 'assistant') return { kind: 'answers', messageId: target.id, claims: claimsOf(target) };
  if (last.role !== 'user') throw invalid('messages', 'must end with a user message, or with answers to calls.');
  return { kind: 'message', id: last.id, isEdit: messageId === last.id, ...contentOf(last) };
}

export function clientToolsOf({ tools = {} }: UiRequestBody): readonly ClientTool[] {
  return Object.entries(tools).map(([name, { description, inputSchema }]) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
  }));
}

function contentOf({ parts }: UiMessage): UiContent {
  const attachments = parts.flatMap(({ type, url }) => (type === 'file' ? attachedTo(url) : []));
  if (attachments.length > MOST_ATTACHMENTS)
    throw invalid('messages', `must end with a message that has at most ${MOST_ATTACHMENTS} attached files.`);
  const content = parts.flatMap(({ type, ...part }, index): UserContent => {
    if (type === 'text' && typeof part.text === 'string' && part.text !== '') return [{ type, text: part.text }];
    return type === 'file' && attachedTo(part.url).length === 0 ? [fileOf(part, `parts[${index}]`)] : [];
  });
  if (content.length + attachments.length === 0)
    throw invalid('messages', 'must end with a message that has a text or a file.');
  return { content, attachments };
}

/** The id of the artifact at an address that `chatMessages` returned. */
function attachedTo(url: unknown): readonly string[] {
  return /^\/api\/artifacts\/([\w-]{1,64})$/.exec(String(url))?.slice(1) ?? [];
}

/** A file must be inside the message: the gateway fetches nothing for a page. */
function fileOf({ url, filename }: Omit<UiPart, 'type'>, path: string): UserContent[number] {
  const [, mediaType, data] = DATA_URL.exec(String(url)) ?? [];
  if (mediaType === undefined || data === undefined)
    throw invalid(
      `${path}.url`,
      'must be a data URL in base64, as useChat creates for chosen files, or /api/artifacts/ and an id.',
    );
  return {
    type: 'file',
    mediaType,
    data: { type: 'data', data },
    ...(typeof filename === 'string' ? { filename: filename.slice(0, 255) } : {}),
  };
}

/** The type may have parameters, such as `;charset=utf-8`. */
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,([A-Za-z0-9+/]+=*)$/;

/** Only the last step is read: all calls of earlier steps were answered before it began. */
function claimsOf({ parts }: UiMessage): ReadonlyMap<string, UiClaim> {
  const step = parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
  return new Map(
    step.flatMap((part) => {
      const isCall = part.type.startsWith('tool-') || part.type === 'dynamic-tool';
      return isCall && typeof part.toolCallId === 'string' ? [[part.toolCallId, claimOf(part)] as const] : [];
    }),
  );
}

function claimOf({ state, approval, output, errorText }: UiPart): UiClaim {
  const { approved, reason } = (approval ?? {}) as { approved?: unknown; reason?: unknown };
  if (state === 'approval-responded' && typeof approved === 'boolean')
    return { kind: 'approval', isApproved: approved, reason: typeof reason === 'string' ? reason : undefined };
  if (state === 'output-available') return { kind: 'result', output: output ?? null };
  if (state === 'output-error') return { kind: 'error', errorText: String(errorText ?? 'It failed.') };
  return { kind: 'none' };
}
