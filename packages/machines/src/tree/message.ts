import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { StoredTranscriptError, Transcript } from '@lastcall/core';
import { MachineError } from '../errors.ts';
import type { QueuedMessage } from './tree.ts';

/**
 * A message to a machine: a text by the user, or a message with its role. A silent one is delivered but not answered.
 */
export type MachineMessage =
  | string
  | ((
      | Exclude<LanguageModelV4Message, { role: 'tool' }>
      | { readonly role: 'user' | 'system' | 'assistant'; readonly content: string }
    ) & { readonly silent?: boolean });

const ROLES: readonly string[] = ['user', 'system', 'assistant'];

/** The message as it waits in the queue. Refuses messages that no model accepts. */
export function toQueued(message: MachineMessage): QueuedMessage {
  if (typeof message === 'string') return { message: userMessage(message), silent: false };
  if (typeof message !== 'object' || message === null || !ROLES.includes(message.role))
    throw new MachineError('message', `A message is a text or has a role: ${ROLES.join(', ')}.`);
  const { silent = false, ...said } = message;
  if (typeof silent !== 'boolean') throw new MachineError('message', 'silent must be true or false.');
  return { message: storable(toModelMessage(said as SaidMessage)), silent };
}

/** A copy, as it is restored: a machine whose message cannot be read again would be lost when it is stored. */
function storable(message: LanguageModelV4Message): LanguageModelV4Message {
  try {
    const [entry] = Transcript.fromJSON({ version: 1, entries: [{ kind: 'message', message }] }).entries;
    return (entry as { readonly message: LanguageModelV4Message }).message;
  } catch (cause) {
    if (!(cause instanceof StoredTranscriptError)) throw cause;
    const path = cause.path.replace(/^entries\[0\]\./, '');
    throw new MachineError('message', `${path}: ${cause.problem}`, { cause });
  }
}

export function userMessage(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

type SaidMessage = Exclude<LanguageModelV4Message, { role: 'tool' }> | { role: 'user' | 'assistant'; content: string };

function toModelMessage(said: SaidMessage): LanguageModelV4Message {
  const { role, content } = said;
  if (typeof content === 'string') {
    if (role === 'system') return said as LanguageModelV4Message;
    return { ...said, content: [{ type: 'text', text: content }] } as LanguageModelV4Message;
  }
  if (role === 'system' || !Array.isArray(content))
    throw new MachineError('message', 'A message has a content: a text or an array of parts.');
  // A call that no reply asked for, or a result without a call, would make every later request invalid.
  if (content.some((part: { type?: unknown }) => part?.type === 'tool-call' || part?.type === 'tool-result'))
    throw new MachineError('message', "A message cannot hold tool calls or results: those are the machine's own.");
  return said as LanguageModelV4Message;
}
