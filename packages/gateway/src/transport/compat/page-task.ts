import type { UserContent } from '../../domain/contexts/turn-settings.ts';

/*
 * Chat pages ask an agent for things of their own: a title, tags, follow-up questions, a search query, a choice of tools. The person
 * said none of it, so such a request must have no effects. Pages send them like any message, and only their shape tells:
 *
 * 1. The request begins a conversation: the assistant has not replied in it.
 * 2. Its text begins with what the page wants, and wants nothing else done.
 * 3. What it wants is about a conversation: it says so, or has the block of a template with the chat history.
 * 4. It says what the answer has to look like, because the page is going to parse it.
 * 5. It quotes that conversation, or has the task as its system text and the conversation as the message.
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
  const isAboutMessage = ONLY.test(text) || /\b(?:below|following)\b/i.test(task);
  return (
    LABEL_TASK.test(task) &&
    ABOUT_CHAT.test(task) &&
    isAboutMessage &&
    isForm(text) &&
    !/\b(?:tools?|functions?)\b/i.test(text) &&
    !SECOND_ACT.test(text)
  );
}

function isQuotingTask(text: string, { isQuoted }: { readonly isQuoted: boolean }): boolean {
  const quote = text.search(QUOTE);
  if (quote === -1 && !isQuoted) return false;
  // What is quoted is the person's: it says nothing about what the page wants.
  const task = (quote === -1 ? text : text.slice(0, quote)).trim();
  return isFixedTask(task, text) || (CHAT_HISTORY.test(text) ? isTemplate(task) : isTextAboutChat(task));
}

/** Tasks with words that stay the same, which name no conversation. */
function isFixedTask(task: string, text: string): boolean {
  return (
    (/^(?:#+ *task:?\s+)?you are an? auto-?completion\b/i.test(task) && /<text>/i.test(text)) ||
    /^you have been provided with a set of responses\b/i.test(task) ||
    /^your task is to reflect\b[^.\n]{0,120}\bfitting emoji\b/i.test(task)
  );
}

/** The task of a text with a block of the chat history. Of a template, all that follows its first section is guidelines. */
function isTemplate(task: string): boolean {
  if (!/^#+ */.test(task)) return isTask(task) && isForm(task) && !SECOND_ACT.test(task);
  const section = task.replace(/^#+[^\n:]*:?\s*/, '').split(/\n#/, 1)[0] ?? '';
  return (
    (isTask(section) || (NAMES_IN_OTHER_LANGUAGES.test(task) && /\bjson\b/i.test(task))) && !SECOND_ACT.test(section)
  );
}

function isTextAboutChat(task: string): boolean {
  return ABOUT_CHAT.test(task.slice(0, HEAD_LENGTH)) && isTask(task) && isForm(task) && !SECOND_ACT.test(task);
}

function isTask(text: string): boolean {
  return LABEL_TASK.test(text) || OFFER_TASK.test(text);
}

function isForm(text: string): boolean {
  return FORM.test(text) || ONLY.test(text);
}

/** Where a text says what it is about, in front of its guidelines. */
const HEAD_LENGTH = 240;

const CHAT =
  '(?:an?|the|this|our|following|previous|above)\\s+(?:[\\w-]+\\s+){0,2}?(?:chat(?: history)?|conversation|session|dialog(?:ue)?|discussion|messages?(?=\\s*(?:[.:,]|below|above|between|$))|(?<=previous\\s|following\\s)query)\\b(?!\\s+(?:tables?|bot|app|database|api|page|room)\\b)';

const ABOUT_CHAT = new RegExp(`\\b${CHAT}`, 'i');

const VERB = '(?:generate|provide|suggest|create|write|give|propose|output|determine|choose|pick|name)';

/** What may stand in front of the verb. */
const LEAD = `(?:#+ *task:?\\s+|please\\s+|your task is to\\s+|you (?:will|must|only)?\\s*|(?:based on|given|from|for) ${CHAT},?\\s+|analy[sz]e ${CHAT} and\\s+)*`;

/** The words between a verb and its object, or a list. A preposition would begin something else: "a ticket with tags". */
const OBJECT =
  '(?::[\\s\\S]{0,120}?|(?:(?!\\b(?:with|from|for|in|on|to|of|at|by|against|whose|that|titled|named|called)\\b)[^.:;\\n]){0,100}?|[^.:;\\n]{0,60}\\bas (?:an? |the )?)';

const taskFor = (nouns: string) => new RegExp(`^${LEAD}${VERB}\\b${OBJECT}\\b(?:${nouns})\\b`, 'i');

/** What pages keep beside a conversation. */
const LABEL_TASK = taskFor('titles?|tags?|quer(?:y|ies)|emojis?');

/** What they offer to say, search or draw next. */
const OFFER_TASK = new RegExp(
  `${taskFor('follow-?\\s?ups?|prompt for a[mn]? image').source}|^analy[sz]e ${CHAT}[^.\\n]{0,80}\\bquer(?:y|ies)\\b`,
  'i',
);

/** A template in another language: the names in the JSON that it asks for, or its word for a title. */
const NAMES_IN_OTHER_LANGUAGES =
  /"(?:title|tags|follow_ups|queries)"\s*:|(?<!\p{L})(?:titel|titre|título|titolo|tytuł|заголовок)(?!\p{L})|标题|標題|タイトル|제목/iu;

/** Demands on the form of the answer. */
const FORM =
  /\bjson\b|\bconcise\b|\bor (?:less|fewer)\b|\b(?:no|not) more than\b|\bat most\b|\bmax(?:imum)?\b|\bno punctuation\b/i;

/** The demand for an answer that a program reads. */
const ONLY =
  /\bonly (?:return|respond|reply|output)\b|\b(?:return|respond|reply|output)(?: with)? only\b|\bnothing else\b/i;

const CHAT_HISTORY = /<(?:chat_history|conversation|messages)>/i;

/** A conversation, or a message of one. */
const QUOTE =
  /<(?:chat_history|conversation|messages|context)>|^\W{0,4}(?:user|human)\W{0,2}:|\bprompt:|\|\|>\s*user|"""|\bresponses from models\b/im;

/** Something to do with the text, beside writing it. */
const SECOND_ACT =
  /\b(?:and|then|afterwards)[,\s]+(?:also\s+|then\s+)?(?:send|e-?mail|mail|pay|post|publish|book|order|buy|delete|remove|save|store|schedule|file|update|submit|share|upload|call|run|transfer|forward|print|create|open|start)\b/i;
