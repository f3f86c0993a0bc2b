import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Settlement } from '../results/outcome.ts';
import { userMessage } from './message.ts';

/**
 * The model has moved on since the call, so the message says which call this is about. It does not repeat the input: the call stands above,
 * with a provisional result that names it, and an input may be long.
 */
export function lateAnswerMessage({ callId, toolName, outcome }: Settlement): LanguageModelV4Message {
  return userMessage(`The answer to call ${callId} (${toolName}) has come:\n\n${outcome.text}`);
}
