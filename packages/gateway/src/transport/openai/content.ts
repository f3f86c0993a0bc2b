import type { UserContent } from '../../domain/conversations/turn-settings.ts';
import { invalid } from '../../domain/entities/invalid.ts';

/** The content of a message as clients send it: text, or a list of parts. */
export type Content = string | readonly ContentPart[] | null | undefined;

export interface ContentPart {
  readonly type: string;
  readonly text?: string | null | undefined;
  readonly refusal?: string | null | undefined;
  /** `{ url }` in chat completions, the URL itself in responses. */
  readonly image_url?: string | { readonly url: string } | null | undefined;
}

/** The text of a message that may only contain text. */
export function readText(content: Content, path: string): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part, index) => partText(part, `${path}[${index}]`)).join('\n');
}

/** Without blank texts: chat pages send one with each image, and providers refuse them. */
export function readUserContent(content: Content, path: string): UserContent {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return parts
    .map((part, index) => readPart(part, `${path}[${index}]`))
    .filter((part) => part.type !== 'text' || part.text.trim() !== '');
}

function readPart(part: ContentPart, path: string): UserContent[number] {
  if (part.type !== 'image_url' && part.type !== 'input_image') return { type: 'text', text: partText(part, path) };
  const url = typeof part.image_url === 'object' ? part.image_url?.url : part.image_url;
  if (typeof url !== 'string') throw invalid(path, 'must have an image URL.');
  return readImage(url, path);
}

function partText({ type, text, refusal }: ContentPart, path: string): string {
  if (TEXT_TYPES.has(type) && typeof text === 'string') return text;
  if (type === 'refusal' && typeof refusal === 'string') return refusal;
  throw invalid(
    path,
    `is a part of type "${type.slice(0, 100)}": the gateway accepts only text, and images in user messages.`,
  );
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text', 'summary_text']);

/** The image URL is passed on to the model's provider. The gateway fetches nothing. */
function readImage(url: string, path: string): UserContent[number] {
  const inline = DATA_URL.exec(url);
  if (inline !== null) {
    const [, mediaType = 'image', data = ''] = inline;
    return { type: 'file', mediaType: mediaType.toLowerCase(), data: { type: 'data', data } };
  }
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    throw invalid(path, 'must be an image at an http or https URL, or a data: URL of an image in base64.');
  return { type: 'file', mediaType: 'image', data: { type: 'url', url: parsed } };
}

/** The type may have parameters, such as `;charset=utf-8`. */
const DATA_URL = /^data:(image\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,([A-Za-z0-9+/]+=*)$/i;
