import type { UserContent } from '../../domain/conversations/turn-settings.ts';
import type { SaidMessage } from '../../runtime/chat/turn-request.ts';

/** One entry of the conversation that a client sends, in its order. Chat messages and response items are converted to these. */
export type Item =
  | { readonly kind: 'instructions'; readonly text: string }
  | { readonly kind: 'user'; readonly content: UserContent }
  | { readonly kind: 'assistant'; readonly text: string }
  /** A call of the assistant, according to the client. It is only used to find the conversation. */
  | { readonly kind: 'call'; readonly callId: string }
  | { readonly kind: 'answer'; readonly callId: string; readonly output: string; readonly path: string };

/** A reply that the client names by the id of its response instead of sending the text. */
export interface ReplyReference {
  readonly kind: 'reference';
  readonly runId: string;
  readonly path: string;
}

/** A conversation as its client sends it, split into its parts. */
export interface ToldConversation {
  readonly instructions: string;
  /** Everything before the last reply. A request with exactly these items was answered with `lastReply`. */
  readonly beforeReply: readonly Item[];
  /** The last reply of the assistant, according to the client. Undefined if there is no reply yet. */
  readonly lastReply: string | undefined;
  /** The messages before the new one, as texts. */
  readonly history: readonly SaidMessage[];
  /** Answers that follow the last reply, by call id. */
  readonly answers: readonly Extract<Item, { kind: 'answer' }>[];
  /** The new message, if there is one. */
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
    instructions: instructionsIn(all),
    beforeReply: items.slice(0, start),
    lastReply: end === 0 ? undefined : textsOf(items.slice(start, end), 'assistant').join('\n\n'),
    history: items.slice(0, end).flatMap(toSaid),
    answers: tail.filter((item) => item.kind === 'answer'),
    message: content.length === 0 ? undefined : content,
    items,
  };
}

/** All system texts, in their order. */
export function instructionsIn(items: readonly (Item | ReplyReference)[]): string {
  return textsOf(items, 'instructions').join('\n\n');
}

function isReply({ kind }: Item): boolean {
  return kind === 'assistant' || kind === 'call';
}

function textsOf(items: readonly (Item | ReplyReference)[], kind: 'instructions' | 'assistant'): readonly string[] {
  return items.flatMap((item) => (item.kind === kind && item.text !== '' ? [item.text] : []));
}

/** Only texts are taken from the client. Results of tools come from the gateway's own store. */
function toSaid(item: Item): readonly SaidMessage[] {
  if (item.kind === 'user') return item.content.length === 0 ? [] : [{ role: 'user', text: textOf(item.content) }];
  return item.kind === 'assistant' && item.text !== '' ? [{ role: 'assistant', text: item.text }] : [];
}

/** The history contains only texts, so a note replaces each image. */
function textOf(content: UserContent): string {
  return content.map((part) => (part.type === 'text' ? part.text : '[an image was here]')).join('\n');
}
