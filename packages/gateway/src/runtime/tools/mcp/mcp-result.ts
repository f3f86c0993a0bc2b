import type { Part } from '@lastcall/core';

/** What a server returned: a value for programs, a text for the model, and images beside it. */
export interface McpResult {
  readonly isError: boolean;
  /** The structured content, if there is any. */
  readonly structured?: unknown;
  readonly text: string;
  readonly images: readonly Part[];
}

/** Images that models read. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** A larger one would be cut off as output that is too long, and its text with it. */
const LONGEST_IMAGE = 180_000;

/** Reads a result. Binary content never becomes text: an image is a part, other content is described in a few words. */
export function readMcpResult(result: unknown): McpResult {
  const { content = [], structuredContent, isError } = (result ?? {}) as Record<string, unknown>;
  const read = (Array.isArray(content) ? content : []).map(readContent);
  const texts = read.map(({ text }) => text).filter((text) => text !== '');
  const isOnlyStructured = texts.length === 0 && structuredContent !== undefined;
  return {
    isError: isError === true,
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    text: isOnlyStructured ? JSON.stringify(structuredContent) : texts.join('\n\n'),
    images: read.flatMap(({ image }) => image ?? []),
  };
}

interface ReadContent {
  readonly text: string;
  readonly image?: Part;
}

function readContent(given: unknown): ReadContent {
  const content = (given ?? {}) as Record<string, unknown>;
  switch (content.type) {
    case 'text':
      return { text: String(content.text ?? '') };
    case 'image':
    case 'audio':
      return readData(content.data, content.mimeType);
    case 'resource':
      return readResource((content.resource ?? {}) as Record<string, unknown>);
    case 'resource_link':
      return { text: `[link to a resource: ${nameOf(content)}]` };
    default:
      return { text: `[content of an unknown type: ${String(content.type).slice(0, 50)}]` };
  }
}

function readResource(resource: Record<string, unknown>): ReadContent {
  if (typeof resource.text === 'string') return { text: `[resource ${nameOf(resource)}]\n${resource.text}` };
  const { text, ...data } = readData(resource.blob, resource.mimeType);
  return { ...data, text: `[resource ${nameOf(resource)}] ${text}` };
}

function readData(data: unknown, mimeType: unknown): ReadContent {
  const mediaType = typeof mimeType === 'string' ? mimeType.slice(0, 100).toLowerCase() : 'unknown type';
  const base64 = typeof data === 'string' ? data : '';
  const size = `${Math.floor((base64.length * 3) / 4)} bytes`;
  if (!IMAGES.has(mediaType)) return { text: `[${mediaType}, ${size}, not shown]` };
  if (base64.length > LONGEST_IMAGE) return { text: `[${mediaType}, ${size}, too large to be shown]` };
  return { text: `[${mediaType}, ${size}]`, image: { type: 'file', mediaType, data: { type: 'data', data: base64 } } };
}

function nameOf({ name, uri }: Record<string, unknown>): string {
  return [name, uri]
    .filter((one): one is string => typeof one === 'string' && one !== '')
    .map((one) => one.slice(0, 500))
    .join(', ');
}
