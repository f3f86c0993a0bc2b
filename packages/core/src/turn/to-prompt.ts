import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { userMessage } from '../transcript/message.ts';

/** What a request shows the model beside the conversation. */
export interface AroundView {
  /** The system text. Empty if there is none. */
  readonly system: string;
  /** The result of `observe`. Empty if there is none. */
  readonly observed: string;
  /** True if system messages after the first are sent as user messages, for a provider that refuses them. */
  readonly systemAsUser: boolean;
}

/** The messages of one request. `view` is the conversation; it is modified. */
export function toPrompt(
  view: LanguageModelV4Message[],
  { system, observed, systemAsUser }: AroundView,
): LanguageModelV4Message[] {
  if (observed !== '') view.push(userMessage(observed));
  if (system !== '') view.unshift({ role: 'system', content: system });
  return systemAsUser ? laterAsUser(view) : view;
}

/** Some providers take system messages only at the start. */
export function laterAsUser(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  const begun = startOf(prompt);
  return [...prompt.slice(0, begun), ...prompt.slice(begun).map(asUser)];
}

/** Where the conversation begins: after the leading system messages. */
export function startOf(prompt: readonly LanguageModelV4Message[]): number {
  const begun = prompt.findIndex(({ role }) => role !== 'system');
  return begun === -1 ? prompt.length : begun;
}

function asUser(message: LanguageModelV4Message): LanguageModelV4Message {
  return message.role === 'system' ? userMessage(message.content) : message;
}
