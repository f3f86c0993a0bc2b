import type { ModelMessage } from '@lastcall/client';

/** How many messages both requests share at the start; the messages after them are new. */
export function commonMessages(before: readonly ModelMessage[], now: readonly ModelMessage[]): number {
  let count = 0;
  while (count < before.length && count < now.length && JSON.stringify(before[count]) === JSON.stringify(now[count]))
    count++;
  return count;
}

/** A part of a message, in words. */
export function partInWords(part: { readonly type: string; readonly [name: string]: unknown }): {
  readonly label: string;
  readonly body: unknown;
} {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { label: part.type, body: part.text };
    case 'tool-call':
      return { label: `calls ${String(part.toolName)}`, body: part.input };
    case 'tool-result':
      return { label: `result of ${String(part.toolName)}`, body: resultOf(part.output) };
    default:
      return { label: part.type, body: part };
  }
}

function resultOf(output: unknown): unknown {
  const { value } = (output ?? {}) as { value?: unknown };
  return value ?? output;
}
