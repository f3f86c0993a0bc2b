import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Settlement } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import { userMessage } from './message.ts';

/** The model has moved on since the call: it needs to be told which one this is about, by the id it is shown under. */
export function lateAnswerMessage(
  { callId, toolName, input, outcome }: Settlement,
  shownAs: string = callId,
): LanguageModelV4Message {
  return userMessage(`The answer to call ${shownAs} (${toolName} ${renderValue(input)}) has come:\n\n${outcome.text}`);
}
