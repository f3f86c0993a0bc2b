import type { Part } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import { resultPart } from '../transcript/message-shape.ts';
import { toPlainValue } from '../transcript/transcript-json.ts';

interface ModelText {
  readonly text: string;
  readonly content?: readonly Part[];
}

/**
 * The result of an AI SDK tool's own `toModelOutput`. Undefined if it throws or returns an unknown form: the value is
 * then rendered like any other.
 */
export async function readModelOutput(
  toModelOutput: (options: never) => unknown,
  options: { toolCallId: string; input: unknown; output: unknown },
): Promise<ModelText | { readonly error: string } | undefined> {
  try {
    return readOutput(await toModelOutput(options as never));
  } catch {
    return undefined;
  }
}

function readOutput(output: unknown): ModelText | { readonly error: string } | undefined {
  const { type, value } = (output ?? {}) as { type?: unknown; value?: unknown };
  switch (type) {
    case 'text':
    case 'json':
      return { text: renderValue(value) };
    case 'error-text':
    case 'error-json':
      return { error: renderValue(value) };
    case 'execution-denied':
      return { error: renderValue((output as { reason?: unknown }).reason ?? 'The execution was denied.') };
    case 'content':
      return Array.isArray(value) ? readParts(value as readonly Part[]) : undefined;
    // The AI SDK adds members to this union in patch releases.
    default:
      return undefined;
  }
}

/** Undefined if a transcript with the parts could not be read back. */
function readParts(given: readonly Part[]): ModelText | undefined {
  const parts = given.map(withTaggedData);
  if (parts.some((part) => resultPart(toPlainValue(part)) !== undefined)) return undefined;
  const texts = parts.filter((part) => part.type === 'text').map((part) => part.text);
  const others = parts.filter((part) => part.type !== 'text');
  return { text: texts.join('\n\n'), ...(others.length === 0 ? {} : { content: others }) };
}

/** The AI SDK also takes the data of a file as it is: bytes, base64, or a URL. */
function withTaggedData(part: Part): Part {
  if (part.type !== 'file') return part;
  const data: unknown = part.data;
  if (data instanceof URL) return { ...part, data: { type: 'url', url: data } };
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) return part;
  const isUrl = typeof data === 'string' && /^https?:/.test(data) && URL.canParse(data);
  return { ...part, data: isUrl ? { type: 'url', url: new URL(data) } : { type: 'data', data } };
}
