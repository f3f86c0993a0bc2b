import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { nameCalls } from './calls/name-calls.ts';
import { isFrame, withoutMark } from './frame.ts';
import { addTagToNames, hasTag, hideTag, hideTagIn, showTagInReasoningOf } from './frame-tag.ts';
import { showFrame } from './frame-words.ts';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

/** The message as the model is sent it: with the tag if it is a frame, and without it if it is not. */
export function tagMessage(message: LanguageModelV4Message, tag: string): LanguageModelV4Message {
  const isOurs = isFrame(message);
  const { content, ...rest } = withoutMark(message);
  // Parts are copied, so that a tool that changes the messages it is shown cannot change what is sent.
  const parts = (content as Part[]).map((part) =>
    isOurs ? tagFramePart(part, tag) : { ...nameCalls(guardPart(part, tag)) },
  );
  return { ...rest, content: parts } as LanguageModelV4Message;
}

function tagFramePart(part: Part, tag: string): Part {
  const text = part.type === 'text' ? showFrame(part.text, tag) : undefined;
  return text === undefined ? { ...guardPart(part, tag) } : ({ ...part, text } as Part);
}

/** The text of `observe`, which may begin with a frame. */
export function tagObserved(
  { frame, shown }: { readonly frame: string; readonly shown: string },
  tag: string,
): LanguageModelV4Message {
  const text = `${showFrame(frame, tag) ?? hideTag(frame, tag)}${hideTag(shown.slice(frame.length), tag)}`;
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** The system text. If it is that of the turn, its explanation of frames gets the tag. */
export function tagSystem(
  content: string,
  {
    tag,
    instructions,
    explanation,
  }: { readonly tag: string; readonly instructions: string; readonly explanation: string },
): string {
  const isOwn = explanation !== '' && content.startsWith(instructions) && instructions.endsWith(explanation);
  if (!isOwn) return hideTag(content, tag);
  const at = instructions.length - explanation.length;
  const rest = content.slice(instructions.length);
  return `${hideTag(content.slice(0, at), tag)}${addTagToNames(explanation, tag)}${hideTag(rest, tag)}`;
}

/** Every run sends the whole transcript, so plain texts and results, which most parts are, take a fast path. */
function guardPart(part: Part, tag: string): Part {
  if (part.type === 'reasoning' || part.type === 'reasoning-file') return showTagInReasoningOf(part, tag);
  if (isPlain(part) && !isTagged(part, tag)) return part;
  if (part.type === 'file') return hideInFile(hideTagIn(part, tag), tag);
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
export function hideInFile<P extends { readonly type: string }>(part: P, tag: string): P {
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
