import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { hasTag, hideTag, hideTagIn } from './hide-tag.ts';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

export interface FrameGuard {
  /** The agent's unguessable frame tag. */
  readonly tag: string;
  /** The system text that explains the frames to the model. */
  readonly instructions: string;
  /** True if a user's text is a complete frame that the gateway itself wrote. */
  readonly isFrame: (text: string) => boolean;
}

/** A message in which only our own frames carry the frame tag. */
export function guardMessage(message: LanguageModelV4Message, guard: FrameGuard): LanguageModelV4Message {
  const { tag, instructions, isFrame } = guard;
  if (message.role === 'system')
    return message.content.startsWith(instructions) ? message : { ...message, content: hideTag(message.content, tag) };
  const content = (message.content as Part[]).map((part) =>
    // The part is copied, so that a tool that changes the messages it is shown cannot change what was guarded.
    message.role === 'user' && part.type === 'text' && isFrame(part.text) ? { ...part } : { ...guardPart(part, tag) },
  );
  return { ...message, content } as LanguageModelV4Message;
}

/**
 * Reasoning is left unchanged: only the model writes it, and providers sign it and refuse changed reasoning. Every run guards
 * the whole transcript, so plain texts and results, which most parts are, take a fast path.
 */
function guardPart(part: Part, tag: string): Part {
  if (part.type === 'reasoning' || part.type === 'reasoning-file') return part;
  if (isPlain(part) && !isTagged(part, tag)) return part;
  if (part.type !== 'tool-result' || part.output.type !== 'content') return hideTagIn(part, tag);
  const value = part.output.value.map((one) => hideInFile(hideTagIn(one, tag), tag));
  return { ...hideTagIn(part, tag), output: { ...part.output, value } };
}

type PlainPart = Extract<Part, { type: 'text' | 'tool-result' }>;

/** True for a text, or a result that is a text, without any other field that could contain a tag. */
function isPlain(part: Part): part is PlainPart {
  if (part.type === 'text') return fieldsOf(part) === 2;
  if (part.type !== 'tool-result' || fieldsOf(part) !== 4) return false;
  const { output } = part;
  return (output.type === 'text' || output.type === 'error-text') && fieldsOf(output) === 2;
}

function fieldsOf(value: object): number {
  return Object.keys(value).length;
}

function isTagged(part: PlainPart, tag: string): boolean {
  if (part.type === 'text') return hasTag(part.text, tag);
  const { toolCallId, toolName, output } = part;
  const value = 'value' in output && typeof output.value === 'string' ? output.value : '';
  return [toolCallId, toolName, value].some((text) => hasTag(text, tag));
}

/** A model reads a text file as text, so the tag is hidden in the decoded bytes too. */
function hideInFile<P extends { readonly type: string }>(part: P, tag: string): P {
  const { mediaType, data } = part as { mediaType?: unknown; data?: unknown };
  if (typeof mediaType !== 'string' || !TEXTUAL.test(mediaType)) return part;
  const { data: bytes } = (typeof data === 'object' && data !== null ? data : { data }) as { data?: unknown };
  const text = toText(bytes);
  const hidden = text === undefined ? undefined : hideTag(text, tag);
  if (hidden === undefined || hidden === text) return part;
  const base64 = Buffer.from(hidden, 'utf8').toString('base64');
  return { ...part, data: typeof data === 'object' && !ArrayBuffer.isView(data) ? { ...data, data: base64 } : base64 };
}

const TEXTUAL = /^(text\/|application\/(json|xml|[\w.-]+\+(json|xml))$)/i;

function toText(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64').toString('utf8');
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('utf8') : undefined;
}
