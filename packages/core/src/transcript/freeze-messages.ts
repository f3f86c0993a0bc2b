import type { LanguageModelV4Message } from '@ai-sdk/provider';

/** Deeply freezes messages from that index on; those before it are frozen already. Returns how many are frozen now. */
export function freezeMessages(messages: readonly LanguageModelV4Message[], from: number): number {
  for (let at = from; at < messages.length; at++) freeze(messages[at]);
  return messages.length;
}

/** Objects that JSON does not have, such as bytes and URLs, are not frozen. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return;
  for (const key of Object.keys(value)) freeze((value as Readonly<Record<string, unknown>>)[key]);
  Object.freeze(value);
}
