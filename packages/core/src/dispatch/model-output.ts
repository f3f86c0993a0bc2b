import type { Part } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';

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

function readParts(parts: readonly Part[]): ModelText {
  const texts = parts.filter((part) => part.type === 'text').map((part) => part.text);
  const others = parts.filter((part) => part.type !== 'text');
  return { text: texts.join('\n\n'), ...(others.length === 0 ? {} : { content: others }) };
}
