import type { UserContent } from '../../domain/contexts/turn-settings.ts';

/*
 * Chat pages ask an agent for things of their own: a title, tags, follow-up questions, a search query, a choice of tools. The person
 * said none of it, so such a request must have no effects. Pages send them like any message, and only their shape tells:
 *
 * 1. The request begins a conversation: the assistant has not replied in it.
 * 2. Its text begins with what the page wants, and wants nothing else done.
 * 3. It says what the answer has to look like, because the page is going to parse it.
 * 4. It quotes the conversation that it is about, or has the task as its system text and the conversation as the message.
 *
 * A request that is taken for one by mistake is answered without the tools that have effects.
 */

export interface FirstTurn {
  /** The system text that the client sent. */
  readonly instructions?: string;
  readonly message: UserContent;
}

/** Whether a request that begins a conversation is one of those. */
export function isPageTask({ instructions = '', message }: FirstTurn): boolean {
  const texts = message.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return (
    [instructions, ...texts].some(isToolChoice) ||
    isSystemTask(instructions) ||
    texts.some((text) => isQuotingTask(text, { isQuoted: texts.length > 1 }))
  );
}

/** A list of tools, and the wish for the names of some. Who calls tools for the model itself does not list them as text. */
function isToolChoice(text: string): boolean {
  return /\bavailable (?:tools|functions)\b\W*[[{]/i.test(text) && TOOL_CHOICE.test(text) && /\bjson\b/i.test(text);
}

const TOOL_CHOICE = /\b(?:choose|select|pick|return|decide)\b[^.\n]{0,80}\b(?:tools?|functions?)\b/i;

/** A task that is the whole system text. One that also speaks of tools is about more than a text. */
function isSystemTask(text: string): boolean {
  const [, task = ''] = /^\s*(?:you are [^.\n]{1,120}\.\s+)?([^.\n]+)/i.exec(text) ?? [];
  return (
    ASKS_FOR_LABEL.test(task) && FORMAT.test(text) && !/\b(?:tools?|functions?)\b/i.test(text) && !SECOND_ACT.test(text)
  );
}

function isQuotingTask(text: string, { isQuoted }: { readonly isQuoted: boolean }): boolean {
  const quote = text.search(QUOTE);
  if (quote === -1 && !isQuoted) return false;
  // What is quoted is the person's: it says nothing about what the page wants.
  const task = quote === -1 ? text : text.slice(0, quote);
  const head = task.trimStart().slice(0, HEAD_LENGTH);
  // Of a template, all that follows its heading is the page's. A text that a person writes may ask for more.
  return ASKS.test(head) && (TEMPLATE.test(head) || (FORMAT.test(task) && !SECOND_ACT.test(task)));
}

/** Where the task of a text stands, in front of its guidelines and of what it quotes. */
const HEAD_LENGTH = 240;

const VERB =
  '(?:generate|provide|suggest|create|write|give|propose|output|determine|analy[sz]e|reflect|choose|pick|name|synthesi[sz]e)';

/** What pages keep beside a conversation. */
const ASKS_FOR_LABEL = new RegExp(
  `^(?:please\\s+|your task is to\\s+|you (?:will|must|only)?\\s*)?${VERB}\\b.{0,120}?\\b(?:titles?|tags?|quer(?:y|ies)|emojis?)\\b`,
  'i',
);

/** The same, and what they offer to say next or merge. */
const ASKS = new RegExp(
  `^(?:#+ *task:?\\s+|please\\s+|your task is to\\s+)*(?:${VERB}\\b[\\s\\S]{0,160}?\\b(?:titles?|tags?|quer(?:y|ies)|emojis?|follow-?\\s?ups?|image generation)\\b|you are an? auto-?completion|you have been provided with a set of responses)`,
  'i',
);

/** The heading of a template, or its first words. */
const TEMPLATE = /^#+ *task\b|^your task is to\b|^you have been provided with a set of responses\b/i;

/** Demands on the form of the answer. */
const FORMAT =
  /\bjson\b|\bconcise\b|\bor (?:less|fewer)\b|\b(?:no|not) more than\b|\bat most\b|\bmax(?:imum)?\b|\bno punctuation\b|\bonly (?:return|respond|reply|output)\b|\b(?:return|respond|reply|output)(?: with)? only\b|\bnothing else\b/i;

/** A conversation, or a message of one. */
const QUOTE =
  /<(?:chat_history|conversation|messages|context)>|^\W{0,4}(?:user|human)\W{0,2}:|\|\|>\s*user|"""|\bresponses from models\b/im;

/** Something to do with the text, beside writing it. */
const SECOND_ACT =
  /\b(?:and|then|afterwards)[,\s]+(?:also\s+|then\s+)?(?:send|e-?mail|mail|pay|post|publish|book|order|buy|delete|remove|save|store|schedule|file|update|submit|share|upload|call|run|transfer|forward|print|create|open|start)\b/i;
