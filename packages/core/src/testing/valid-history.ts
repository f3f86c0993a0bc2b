import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Entry } from '../transcript/entry.ts';

/** The problem with messages as a provider sees them: each call must be followed directly by its one result. */
export function problemOfMessages(messages: readonly LanguageModelV4Message[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const asked = message.role === 'assistant' ? idsOf(message, 'tool-call') : [];
    const next = messages[index + 1];
    const answered = next?.role === 'tool' ? idsOf(next, 'tool-result') : [];
    if (asked.join() !== answered.join() && (asked.length > 0 || (message.role !== 'assistant' && answered.length > 0)))
      return `message ${index} asks for [${asked.join(', ')}] and is followed by the results of [${answered.join(', ')}]`;
    if (message.role === 'tool' && messages[index - 1]?.role !== 'assistant')
      return `message ${index} has results and follows no calls`;
  }
  return undefined;
}

/** The problem with entries: each call must settle once, or wait. */
export function problemOfEntries(entries: readonly Entry[]): string | undefined {
  const open = new Set<string>();
  const ended = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === 'reply') for (const { callId } of entry.calls) open.add(callId);
    if (entry.kind === 'pending') open.delete(entry.settlement.callId);
    if (entry.kind !== 'settled') continue;
    const { callId } = entry.settlement;
    if (ended.has(callId)) return `call ${callId} is settled twice`;
    ended.add(callId);
    open.delete(callId);
  }
  return open.size === 0 ? undefined : `call ${[...open].join(', ')} has no end`;
}

function idsOf(message: LanguageModelV4Message, type: 'tool-call' | 'tool-result'): string[] {
  if (typeof message.content === 'string') return [];
  return message.content
    .filter((part) => part.type === type && (part as { providerExecuted?: boolean }).providerExecuted !== true)
    .map((part) => (part as { toolCallId: string }).toolCallId);
}
