import { type Entry, Transcript } from '@lastcall/core';
import { type Frame, isFrame, parseAnyFrame } from '../frame.ts';
import { frameLines } from '../frame-words.ts';

type Message = ReturnType<Transcript['view']>[number];
type UserPart = Extract<Message, { role: 'user' }>['content'][number];
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<Message, { role: 'tool' }>['content'][number];

/** Something that a summary can mention. */
export type TranscriptLine =
  | { readonly said: 'system' | 'user' | 'assistant'; readonly text: string; readonly frame?: Frame }
  | { readonly called: string; readonly input: unknown; readonly result: string; readonly frame?: never };

/** Lists what happened as the model saw it, without entries that were rewound or replaced by newer results. */
export function transcriptLines(
  entries: readonly Entry[],
  isLeftOut: (callId: string) => boolean,
): readonly TranscriptLine[] {
  const messages = new Transcript(entries).view();
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? message.content.flatMap(toResult) : [])),
  );
  return messages.flatMap((message) => toTranscriptLines(message, { results, isLeftOut }));
}

interface ItemContext {
  readonly results: ReadonlyMap<string, string>;
  readonly isLeftOut: (callId: string) => boolean;
}

function toTranscriptLines(message: Message, context: ItemContext): readonly TranscriptLine[] {
  switch (message.role) {
    case 'system':
      return [{ said: 'system', text: message.content }];
    case 'user':
      return message.content.map((part) => toUserItem(part, isFrame(message)));
    case 'assistant':
      return message.content.flatMap((part) => toAssistantItems(part, context));
    case 'tool':
      return [];
  }
}

function toUserItem(part: UserPart, isOurs: boolean): TranscriptLine {
  if (part.type !== 'text') return { said: 'user', text: '[A file.]' };
  const { text } = part;
  const frame = isOurs ? parseAnyFrame(text) : undefined;
  if (frame === undefined) return { said: 'user', text };
  return { said: 'user', text: frameLines(frame)?.join('\n') ?? text, frame };
}

function toAssistantItems(part: AssistantPart, { results, isLeftOut }: ItemContext): readonly TranscriptLine[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ said: 'assistant', text: part.text }];
    case 'tool-call': {
      if (isLeftOut(part.toolCallId)) return [];
      const result = results.get(part.toolCallId) ?? 'no result';
      return [{ called: part.toolName, input: part.input, result }];
    }
    case 'tool-result':
      return [{ called: part.toolName, input: null, result: toText(part.output) }];
    default:
      return [];
  }
}

function toResult(part: ToolPart): [string, string][] {
  return part.type === 'tool-result' ? [[part.toolCallId, toText(part.output)]] : [];
}

function toText(output: Extract<ToolPart, { type: 'tool-result' }>['output']): string {
  switch (output.type) {
    case 'text':
      return output.value;
    case 'error-text':
      return `failed: ${output.value}`;
    case 'content':
      return output.value.map((one) => (one.type === 'text' ? one.text : '[A file.]')).join('\n');
    default:
      return JSON.stringify(output);
  }
}
