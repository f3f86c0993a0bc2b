import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Settlement } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import { userMessage } from './message.ts';

/** The model has moved on since the call, so the message says which call this is about. */
export function lateAnswerMessage({ callId, toolName, input, outcome }: Settlement): LanguageModelV4Message {
  return userMessage(`The answer to call ${callId} (${toolName} ${renderValue(input)}) has come:\n\n${outcome.text}`);
}
