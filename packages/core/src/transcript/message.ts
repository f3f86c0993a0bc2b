import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { OptionsError } from '../errors.ts';

/** A message in the form of the AI SDK's provider interface, or simply `{ role, content: text }`. */
export type Message =
  | LanguageModelV4Message
  | { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

const ROLES: readonly string[] = ['system', 'user', 'assistant', 'tool'];

/** The message in the provider interface's form. */
function toModelMessage(message: Message, field: string = 'messages'): LanguageModelV4Message {
  if (typeof message !== 'object' || message === null || !ROLES.includes(message.role)) {
    throw new OptionsError(field, `must have a role: ${ROLES.join(', ')}.`);
  }
  if (Array.isArray(message.content)) return message as LanguageModelV4Message;
  if (typeof message.content !== 'string')
    throw new OptionsError(field, 'must have a content: a text or an array of parts.');
  if (message.role === 'system') return message as LanguageModelV4Message;
  if (message.role === 'tool') throw new OptionsError(field, 'of role tool must have an array of parts as content.');
  return { role: message.role, content: [{ type: 'text', text: message.content }] } as LanguageModelV4Message;
}

/** Checked messages of a conversation: each call is followed directly by its one result, as providers require. */
export function toModelMessages(messages: readonly Message[]): LanguageModelV4Message[] {
  const all = messages.map((message, index) => toModelMessage(message, `messages[${index}]`));
  all.forEach((message, index) => {
    const field = `messages[${index}]`;
    const missing = message.role === 'assistant' ? without(callsOf(message), resultsOf(all[index + 1])) : [];
    if (missing.length > 0)
      throw new OptionsError(field, `has calls without a result in the next message: ${missing.join(', ')}.`);
    const before = all[index - 1];
    const asked = before?.role === 'assistant' ? callsOf(before) : [];
    if (message.role === 'tool' && !haveOneEach(asked, resultsOf(message)))
      throw new OptionsError(field, 'must hold one result for each call of the message before, and no others.');
  });
  return all;
}

/** Whether each of the calls has exactly one result. */
export function haveOneEach(calls: readonly string[], results: readonly string[]): boolean {
  return (
    calls.length === results.length && new Set(results).size === results.length && without(calls, results).length === 0
  );
}

function without(ids: readonly string[], others: readonly string[]): readonly string[] {
  return ids.filter((id) => !others.includes(id));
}

/** The calls in a message that must be followed by their results. */
export function callsOf({ content }: Extract<LanguageModelV4Message, { role: 'assistant' }>): string[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : [],
  );
}

export function resultsOf(message: LanguageModelV4Message | undefined): string[] {
  if (message?.role !== 'tool') return [];
  return message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []));
}

/**
 * The message without texts that are blank. Pages of chats send one along with a file, and providers refuse it, so that no later request of the
 * conversation would be accepted.
 */
export function withoutBlankTexts(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'user') return message;
  const content = message.content.filter(
    (part) => part.type !== 'text' || part.text.trim() !== '' || part.providerOptions !== undefined,
  );
  return content.length === 0 || content.length === message.content.length ? message : { ...message, content };
}

export function userMessage(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}
