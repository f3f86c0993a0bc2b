import type { Part } from '../results/outcome.ts';

interface OldFile {
  readonly type: string;
  readonly data?: unknown;
  readonly url?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly providerOptions?: never;
}

/**
 * A part of a result as providers take it. Tools of the AI SDK may still name a file by the kind of its data: the AI SDK translates these
 * names, and providers leave out what they do not know.
 */
export function toProviderPart(part: Part): Part {
  const { type, data, url, ...rest } = part as OldFile;
  switch (type) {
    case 'image-data':
    case 'file-data':
    case 'media':
      return typeof data === 'string'
        ? { mediaType: 'image', ...rest, type: 'file', data: { type: 'data', data } }
        : part;
    case 'image-url':
    case 'file-url':
      return typeof url === 'string' && URL.canParse(url)
        ? { mediaType: MEDIA_TYPES[type], ...rest, type: 'file', data: { type: 'url', url: new URL(url) } }
        : part;
    case 'file':
      return withUrl(part as FilePart);
    default:
      return part;
  }
}

type FilePart = Extract<Part, { type: 'file' }>;

/** The provider interface has URLs as objects, and a transcript that was stored has texts. */
function withUrl(part: FilePart): FilePart {
  const { data } = part;
  const isStored = data.type === 'url' && typeof data.url === 'string' && URL.canParse(data.url);
  return isStored ? { ...part, data: { ...data, url: new URL(data.url) } } : part;
}

/** What the AI SDK takes for granted if a tool does not say it. */
const MEDIA_TYPES = { 'image-url': 'image', 'file-url': 'application/octet-stream' } as const;
