import type { Attachment } from '@lastcall/client';

/**
 * The images that a tool made, as its output names them: `{ url, mediaType, bytes }`, a list of these under `images`, or in a text the words
 * that the gateway writes for a file of an MCP server.
 */
export function imagesIn(output: unknown): readonly Attachment[] {
  if (typeof output === 'string')
    return [...output.matchAll(STORED)]
      .map(([, mediaType = '', bytes, id = '']) => ({ id, name: 'Image', mediaType, bytes: Number(bytes) }))
      .slice(0, MOST_IMAGES);
  const { images } = fieldsOf(output);
  const named = Array.isArray(images) ? images : [output];
  return named.flatMap(toImage).slice(0, MOST_IMAGES);
}

const MOST_IMAGES = 10;

const STORED = /\[(image\/[\w.+-]{1,50}), (\d{1,12}) bytes, stored as \/api\/artifacts\/([\w-]{1,100})\]/g;

function toImage(value: unknown): readonly Attachment[] {
  const { url, mediaType, bytes } = fieldsOf(value);
  if (typeof url !== 'string' || typeof mediaType !== 'string' || !mediaType.startsWith('image/')) return [];
  // Only files of this gateway: a tool could name any address, and the page would load it.
  const [, id] = /^\/api\/artifacts\/([\w-]{1,100})$/.exec(url) ?? [];
  return id === undefined ? [] : [{ id, name: 'Image', mediaType, bytes: typeof bytes === 'number' ? bytes : 0 }];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
