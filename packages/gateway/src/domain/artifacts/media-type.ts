/** The types that are stored and served. None of them can run in the origin of the gateway: everything is sent as a download. */
export type ArtifactType = ImageType | AudioType | typeof PDF_TYPE | typeof UNKNOWN_TYPE;

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

type AudioType = (typeof AUDIO_TYPES)[number];

const AUDIO_TYPES = [
  'audio/wav',
  'audio/mpeg',
  'audio/ogg',
  'audio/flac',
  'audio/aac',
  'audio/mp4',
  'audio/webm',
] as const;
const PDF_TYPE = 'application/pdf';
const UNKNOWN_TYPE = 'application/octet-stream';

/** The type under which bytes are stored. The server's own statement counts only for audio, where a wrong type does no harm. */
export function artifactTypeOf(bytes: Uint8Array, said: string): ArtifactType {
  return imageTypeOf(bytes) ?? pdfTypeOf(bytes) ?? AUDIO_TYPES.find((type) => type === said) ?? UNKNOWN_TYPE;
}

function pdfTypeOf(bytes: Uint8Array): typeof PDF_TYPE | undefined {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 5)).toString('latin1') === '%PDF-'
    ? PDF_TYPE
    : undefined;
}

/** The file name extension. */
export function extensionOf(type: ArtifactType): string {
  return type === UNKNOWN_TYPE ? 'bin' : type.slice(type.indexOf('/') + 1);
}

/**
 * Detects the type from the first bytes. The server's own statement is not trusted: a page that is labelled as an image would run
 * in the browser of the person who opens it. Returns undefined for everything that is not one of the types above.
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
