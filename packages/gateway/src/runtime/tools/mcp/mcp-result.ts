import type { Part } from '@lastcall/core';

/** The result of a server: a value for programs, a text for the model, and images. */
export interface McpResult {
  readonly isError: boolean;
  /** The structured content, if there is any. */
  readonly structured?: unknown;
  readonly text: string;
  readonly images: readonly Part[];
}

/** The types of images that models read. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** A larger image would be cut off as too long an output, together with the text. */
const LONGEST_IMAGE = 180_000;

/** Stores a file that a server returned, and returns its URL. Undefined if it cannot be stored. */
export type StoreFile = (bytes: Uint8Array, said: string) => Promise<string | undefined>;

/**
 * Reads a result. Binary content never becomes text: files are stored, the text says where, and the model also sees an image as a
 * part.
 */
export async function readMcpResult(result: unknown, store: StoreFile): Promise<McpResult> {
  const { content = [], structuredContent, isError } = (result ?? {}) as Record<string, unknown>;
  const contents = Array.isArray(content) ? content : [];
  const read: ReadContent[] = [];
  for (const one of contents) read.push(await readContent(one, store));
  const texts = read.map(({ text }) => text).filter((text) => text !== '');
  // Servers repeat structured content as text. A model would not see the content of one that sends only files with it.
  if (structuredContent !== undefined && !contents.some(hasText)) texts.unshift(JSON.stringify(structuredContent));
  return {
    isError: isError === true,
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    text: texts.join('\n\n'),
    images: read.flatMap(({ image }) => image ?? []),
  };
}

function hasText(content: unknown): boolean {
  const { text, resource } = (content ?? {}) as { readonly text?: unknown; readonly resource?: { text?: unknown } };
  return [text, resource?.text].some((one) => typeof one === 'string' && one !== '');
}

interface ReadContent {
  readonly text: string;
  readonly image?: Part;
}

async function readContent(given: unknown, store: StoreFile): Promise<ReadContent> {
  const content = (given ?? {}) as Record<string, unknown>;
  switch (content.type) {
    case 'text':
      return { text: String(content.text ?? '') };
    case 'image':
    case 'audio':
      return await readData(content.data, content.mimeType, store);
    case 'resource':
      return await readResource((content.resource ?? {}) as Record<string, unknown>, store);
    case 'resource_link':
      return { text: `[link to a resource: ${nameOf(content)}]` };
    default:
      return { text: `[content of an unknown type: ${String(content.type).slice(0, 50)}]` };
  }
}

async function readResource(resource: Record<string, unknown>, store: StoreFile): Promise<ReadContent> {
  if (typeof resource.text === 'string') return { text: `[resource ${nameOf(resource)}]\n${resource.text}` };
  const { text, ...data } = await readData(resource.blob, resource.mimeType, store);
  return { ...data, text: `[resource ${nameOf(resource)}] ${text}` };
}

async function readData(data: unknown, mimeType: unknown, store: StoreFile): Promise<ReadContent> {
  const mediaType = typeof mimeType === 'string' ? mimeType.slice(0, 100).toLowerCase() : 'unknown type';
  const base64 = typeof data === 'string' ? data : '';
  const size = `${Math.floor((base64.length * 3) / 4)} bytes`;
  const url = base64 === '' ? undefined : await store(Buffer.from(base64, 'base64'), mediaType);
  const text = `[${mediaType}, ${size}, ${url === undefined ? 'not stored' : `stored as ${url}`}]`;
  if (!IMAGES.has(mediaType) || base64.length > LONGEST_IMAGE) return { text };
  // People see the stored one.
  return { text, image: { type: 'file', mediaType, data: { type: 'data', data: base64 } } };
}

function nameOf({ name, uri }: Record<string, unknown>): string {
  return [name, uri]
    .filter((one): one is string => typeof one === 'string' && one !== '')
    .map((one) => one.slice(0, 500))
    .join(', ');
}
