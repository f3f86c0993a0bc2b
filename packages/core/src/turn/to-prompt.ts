import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { userMessage } from '../transcript/message.ts';
import { wellFormed } from '../transcript/well-formed.ts';

/** What a request shows the model beside the conversation. */
export interface AroundView {
  /** The system text. Empty if there is none. */
  readonly system: string;
  /** The result of `observe`. Empty if there is none. */
  readonly observed: string;
  /** True if system messages after the first are sent as user messages, for a provider that refuses them. */
  readonly systemAsUser: boolean;
}

/** The messages of one request: a copy of the conversation, which may be long, and what is around it. */
export function toPrompt(
  view: readonly LanguageModelV4Message[],
  { system, observed, systemAsUser }: AroundView,
): LanguageModelV4Message[] {
  const first: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: wellFormed(system) }];
  const prompt = first.concat(view);
  if (observed !== '') prompt.push(userMessage(wellFormed(observed)));
  return systemAsUser ? laterAsUser(prompt) : prompt;
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
