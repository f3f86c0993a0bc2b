import type { UserContent } from '../../../domain/contexts/turn-settings.ts';
import type { SaidMessage } from '../../../runtime/chat/turn-request.ts';

/** One thing that a client says was said or done, in the order in which it says so. Chat messages and response items become these. */
export type Item =
  | { readonly kind: 'instructions'; readonly text: string }
  | { readonly kind: 'user'; readonly content: UserContent }
  | { readonly kind: 'assistant'; readonly text: string }
  /** A call that the assistant is said to have made. It is only used to find the conversation. */
  | { readonly kind: 'call'; readonly callId: string }
  | { readonly kind: 'answer'; readonly callId: string; readonly output: string; readonly path: string };

/** A conversation as its client tells it, taken apart. */
export interface ToldConversation {
  readonly instructions: string;
  /** All but the last reply and what followed it. A request that had exactly these was answered with `lastReply`. */
  readonly beforeReply: readonly Item[];
  /** What the assistant is said to have answered last. Undefined where it has not answered yet. */
  readonly lastReply: string | undefined;
  /** What came before the new message, as texts. */
  readonly history: readonly SaidMessage[];
  /** Answers that follow the last reply, by call id. */
  readonly answers: readonly Extract<Item, { kind: 'answer' }>[];
  /** The new message. Undefined where there is none. */
  readonly message: UserContent | undefined;
  readonly items: readonly Item[];
}

export function takeApart(all: readonly Item[]): ToldConversation {
  const items = all.filter(({ kind }) => kind !== 'instructions');
  const end = items.findLastIndex(isReply) + 1;
  const start = items.findLastIndex((item, index) => index < end && !isReply(item)) + 1;
  const tail = items.slice(end);
  const content = tail.flatMap((item) => (item.kind === 'user' ? item.content : []));
  return {
    instructions: textsOf(all, 'instructions').join('\n\n'),
    beforeReply: items.slice(0, start),
    lastReply: end === 0 ? undefined : textsOf(items.slice(start, end), 'assistant').join('\n\n'),
    history: items.slice(0, end).flatMap(toSaid),
    answers: tail.filter((item) => item.kind === 'answer'),
    message: content.length === 0 ? undefined : content,
    items,
  };
}

function isReply({ kind }: Item): boolean {
  return kind === 'assistant' || kind === 'call';
}

function textsOf(items: readonly Item[], kind: 'instructions' | 'assistant'): readonly string[] {
  return items.flatMap((item) => (item.kind === kind && item.text !== '' ? [item.text] : []));
}

/** Only texts are believed: a result of a tool is what the gateway has stored, or nothing. */
function toSaid(item: Item): readonly SaidMessage[] {
  if (item.kind === 'user') return [{ role: 'user', text: textOf(item.content) }];
  return item.kind === 'assistant' && item.text !== '' ? [{ role: 'assistant', text: item.text }] : [];
}

/** The history holds texts alone, so the model is told where something else was. */
function textOf(content: UserContent): string {
  return content.map((part) => (part.type === 'text' ? part.text : '[an image was here]')).join('\n');
}
