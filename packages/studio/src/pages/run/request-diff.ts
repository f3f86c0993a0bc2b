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
      return textInWords(String(part.text));
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

/** The gateway frames what arrived. The frame is for the model; people read what is in it. */
function textInWords(text: string): { readonly label: string; readonly body: string } {
  const [, kind, at, inside] = FRAME.exec(text) ?? [];
  if (inside === undefined) return { label: 'text', body: text };
  const what = kind === 'inbox' ? 'what arrived' : 'where it is';
  return { label: at === undefined ? what : `${what}, ${at}`, body: inside };
}

const FRAME = /^<(inbox|situation)-[\w-]+(?: at="([^"]*)")?>\n([\s\S]*)\n<\/\1(?:-[\w-]+)?>$/;

/** About as many tokens as a model counts: four characters each. */
export function tokensInWords(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `~${Math.ceil(text.length / 4).toLocaleString()} tokens`;
}

function resultOf(output: unknown): unknown {
  const { value } = (output ?? {}) as { value?: unknown };
  return value ?? output;
}
