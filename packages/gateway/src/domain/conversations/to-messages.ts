import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Entry, Outcome, Settlement } from '@lastcall/core';
import { endingCall, isTextReply, parseJson } from '@lastcall/core/internal';

/** A message or call of a conversation, in the format of the chat endpoints. */
export type ConversationMessage =
  | { readonly sender: 'human' | 'ai'; readonly message: string }
  | {
      readonly type: 'tool_call';
      readonly tool_call_id: string;
      readonly tool_name: string;
      readonly tool_input: unknown;
    }
  | { readonly type: 'tool_response'; readonly tool_call_id: string; readonly tool_output: string };

/**
 * The messages in order. Only calls that ran are included, each directly followed by its response. Nudges are left out: they are
 * in the transcript. `entries` may begin anywhere: if the reply of a call is missing, the call appears where it ended.
 */
export function toConversation(entries: readonly Entry[]): readonly ConversationMessage[] {
  const ends = new Map<string, Settlement>();
  for (const entry of entries) if (entry.kind === 'settled') ends.set(entry.settlement.callId, entry.settlement);
  const asked = new Set<string>();
  return entries.flatMap((entry): readonly ConversationMessage[] => {
    if (entry.kind === 'message') return said(entry.message);
    if (entry.kind === 'settled') return asked.has(entry.settlement.callId) ? [] : toCall(entry.settlement);
    if (entry.kind !== 'reply') return [];
    for (const { callId } of entry.calls) asked.add(callId);
    const text: readonly ConversationMessage[] = entry.text === '' ? [] : [{ sender: 'ai', message: entry.text }];
    return [...text, ...entry.calls.flatMap(({ callId }) => toCall(ends.get(callId)))];
  });
}

function said(message: LanguageModelV4Message): readonly ConversationMessage[] {
  if (message.role === 'system' || message.role === 'tool') return [];
  const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return [{ sender: message.role === 'user' ? 'human' : 'ai', message: texts.join('\n') }];
}

function toCall(settlement: Settlement | undefined): readonly ConversationMessage[] {
  if (settlement === undefined || !hasRun(settlement.outcome)) return [];
  const { callId, toolName, input, outcome } = settlement;
  return [
    { type: 'tool_call', tool_call_id: callId, tool_name: toolName, tool_input: inputOf(input) },
    { type: 'tool_response', tool_call_id: callId, tool_output: outcome.text },
  ];
}

/**
 * For a call that no tool accepted, the input is the text that the model wrote. Callers get the object in it, or the text if it
 * is not JSON.
 */
export function inputOf(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    const value: unknown = parseJson(input === '' ? '{}' : input);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : input;
  } catch {
    return input;
  }
}

function hasRun({ status }: Outcome): boolean {
  return status === 'ok' || status === 'error';
}

/** The answer of the run: the output of the tool that ended it, or its last text. */
export function responseOf(entries: readonly Entry[]): string {
  const stop = entries.findLast((entry) => entry.kind === 'stop')?.stop;
  if (stop?.reason === 'end_turn' && stop.by !== 'text') return outputOf(endingCall(entries, stop));
  const last = entries.findLast((entry) => entry.kind === 'reply');
  return last !== undefined && isTextReply(last) ? last.text : '';
}

function outputOf(ended: ReturnType<typeof endingCall>): string {
  if (ended?.endsTurn !== undefined) return ended.endsTurn.response;
  const outcome = ended?.settlement.outcome;
  return outcome?.status === 'ok' ? (outcome.userText ?? outcome.text) : '';
}
