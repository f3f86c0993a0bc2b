import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const encoding = new Tiktoken(o200k);
const known = new Map<string, number>();

/** The tokens of a text, by the tokenizer of OpenAI's current models. */
export function countTokens(text: string): number {
  const before = known.get(text);
  if (before !== undefined) return before;
  const count = encoding.encode(text, 'all').length;
  known.set(text, count);
  return count;
}
