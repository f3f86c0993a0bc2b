import type { ReplyEntry } from './entry.ts';

/**
 * Whether the reply is an answer in text: it calls no tool, or only tools that the provider ran itself, such as a web search, and has
 * text after the last of them. Without such text the provider may have paused, so the model is asked to go on.
 */
export function isTextReply({ calls, content, finishReason }: ReplyEntry): boolean {
  if (calls.length === 0) return true;
  if (finishReason === 'tool-calls' || calls.some(({ provided }) => provided === undefined)) return false;
  const lastCall = content.findLastIndex(({ type }) => type === 'tool-call' || type === 'tool-result');
  return content.findLastIndex(({ type }) => type === 'text') > lastCall;
}
