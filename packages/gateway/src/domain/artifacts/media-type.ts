/** The types that are stored and served. None of them can hold a script. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/**
 * Reads the type from the first bytes. What a server says of its own bytes is not believed: a page that is called an image
 * would run in the browser of whoever opens it. Returns undefined for everything that is not one of the types above.
 */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(text)) return 'image/webp';
  if (/^.{4}ftypavi[fs]/s.test(text)) return 'image/avif';
  return undefined;
}
