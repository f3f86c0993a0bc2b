import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Part, Settlement } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import { toProviderPart } from './result-file.ts';

type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;

/**
 * The model has moved on since the call, so the message says which call this is about. The pictures of the result follow, because a result
 * may have nothing else.
 */
export function lateAnswerMessage({ callId, toolName, input, outcome }: Settlement): UserMessage {
  const text = `The answer to call ${callId} (${toolName} ${renderValue(input)}) has come:\n\n${outcome.text}`;
  const parts = outcome.status === 'ok' ? (outcome.content ?? []) : [];
  return { role: 'user', content: [{ type: 'text', text }, ...parts.map(toProviderPart).filter(isShownToUsers)] };
}

/** A provider may refuse a request with a file of another kind in it, and so every later request of the conversation. */
function isShownToUsers(part: Part): part is Extract<Part, { type: 'file' }> {
  return part.type === 'file' && /^image(?:\/|$)|^application\/pdf$/.test(part.mediaType);
}
