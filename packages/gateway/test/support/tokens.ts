import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const encoding = new Tiktoken(o200k);

export function tokensOf(text: string): number {
  return encoding.encode(text).length;
}

/** The tokens of tools as providers get them. */
export function toolTokens(tools: LanguageModelV4CallOptions['tools'] = []): number {
  return tools.reduce((sum, tool) => {
    if (tool.type !== 'function') return sum;
    const { name, description, inputSchema: parameters } = tool;
    return sum + tokensOf(JSON.stringify({ name, description, parameters }));
  }, 0);
}
