import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider';
import { toBase64 } from '../to-base64.ts';

/** A prompt in version 3 of the provider interface: files have another form, and some parts did not exist. */
export function toPromptV3(prompt: readonly LanguageModelV4Message[]): unknown[] {
  return prompt.map((message) =>
    message.role === 'system' ? message : { ...message, content: message.content.filter(isOfV3).map(toPartV3) },
  );
}

type Part = Exclude<LanguageModelV4Message, { role: 'system' }>['content'][number];
type FileData = LanguageModelV4FilePart['data'];

// A provider of that version would have to throw, because it does not know these parts.
function isOfV3({ type }: Part): boolean {
  return type !== 'custom' && type !== 'reasoning-file';
}

function toPartV3(part: Part): unknown {
  if (part.type === 'file') return { ...part, mediaType: fullType(part.mediaType), data: bareData(part.data) };
  return part.type === 'tool-result' ? { ...part, output: toOutputV3(part.output) } : part;
}

/** In version 3, `data` is bytes, base64 or a URL. */
function bareData(data: FileData): unknown {
  switch (data.type) {
    case 'data':
      return data.data;
    case 'url':
      return data.url;
    case 'text':
      return new TextEncoder().encode(data.text);
    default:
      return data;
  }
}

function toOutputV3(output: LanguageModelV4ToolResultOutput): unknown {
  if (output.type !== 'content') return output;
  const value = output.value.map((part) => (part.type === 'file' ? toResultFileV3(part) : part));
  return { ...output, value };
}

type ResultFile = Extract<
  Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number],
  { type: 'file' }
>;

/** In results, the type's name contains the kind of data, and images have their own type names. */
function toResultFileV3({ type: _, data, ...rest }: ResultFile): unknown {
  const mediaType = fullType(rest.mediaType);
  const image = mediaType.startsWith('image/');
  switch (data.type) {
    case 'data':
      return { ...rest, mediaType, type: image ? 'image-data' : 'file-data', data: toBase64(data.data) };
    case 'text':
      return { ...rest, mediaType, type: 'file-data', data: toBase64(new TextEncoder().encode(data.text)) };
    case 'url':
      return { ...rest, mediaType, type: image ? 'image-url' : 'file-url', url: String(data.url) };
    case 'reference':
      return { ...rest, mediaType, type: image ? 'image-file-id' : 'file-id', fileId: data.reference };
  }
}

/** In version 4 the type may be just `image`. */
function fullType(mediaType: string): string {
  return mediaType.includes('/') ? mediaType : `${mediaType}/*`;
}
