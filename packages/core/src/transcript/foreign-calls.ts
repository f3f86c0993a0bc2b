import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { renderValue } from '../results/render.ts';
import type { ReplyEntry } from './entry.ts';
import { wellFormed } from './well-formed.ts';

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type AssistantPart = AssistantMessage['content'][number];

/** Which provider ran the calls in a message. Forks share messages. */
const providers = new WeakMap<AssistantMessage, string>();

/** The message of a reply. If its provider ran calls itself, their results are in it. */
export function toReplyMessage({ provider }: ReplyEntry, content: AssistantMessage['content']): AssistantMessage {
  const message: AssistantMessage = { role: 'assistant', content: wellFormed(content) };
  if (provider !== undefined && content.some(isProvided)) providers.set(message, provider);
  return message;
}

/**
 * The message for a provider. Calls that another provider ran itself become text. Otherwise this provider would treat them as its own calls, not
 * find them, and refuse every later request of the conversation.
 */
export function withoutForeignCalls(message: AssistantMessage, provider: string): AssistantMessage {
  const ran = providers.get(message);
  if (ran === undefined || ran === provider) return message;
  return { role: 'assistant', content: message.content.map((part) => (isProvided(part) ? toText(part) : part)) };
}

type ProvidedPart = Extract<AssistantPart, { type: 'tool-call' | 'tool-result' }>;

function isProvided(part: AssistantPart): part is ProvidedPart {
  return part.type === 'tool-result' || (part.type === 'tool-call' && part.providerExecuted === true);
}

function toText(part: ProvidedPart): AssistantPart {
  const { toolName } = part;
  if (part.type === 'tool-call') return { type: 'text', text: `[Called ${toolName} ${clipped(part.input)}]\n` };
  const { output } = part;
  return { type: 'text', text: `[Result of ${toolName}: ${clipped('value' in output ? output.value : output)}]\n` };
}

/** Results of a search may have whole pages, in a form that only its provider reads. */
const LONGEST = 4_000;

function clipped(value: unknown): string {
  const text = renderValue(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()} …` : text;
}
