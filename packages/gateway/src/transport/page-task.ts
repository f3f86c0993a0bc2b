import type { UserContent } from '../domain/conversations/turn-settings.ts';

/*
 * Chat pages also send requests for their own use: a title, tags, follow-up questions, a search query, a choice of tools. The person
 * did not write them, so such a request must have no effects. Pages send them like any message, and only their form differs:
 *
 * 1. The request begins a conversation: the assistant has not replied in it.
 * 2. Its text begins with the task of the page, and contains no other task.
 * 3. The task is about a conversation: the text says so, or it has a template's block with the chat history.
 * 4. It prescribes the format of the answer, because the page will parse it.
 * 5. It quotes that conversation, or has the task as its system text and the conversation as the message.
 *
 * A request that is classified so by mistake is answered without the tools that have effects.
 */

export interface FirstTurn {
  /** The system text that the client sent. */
  readonly instructions?: string;
  readonly message: UserContent;
}

/** True if a request that begins a conversation is such a task. */
export function isPageTask({ instructions = '', message }: FirstTurn): boolean {
  const texts = message.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return (
    [instructions, ...texts].some(isToolChoice) ||
    isSystemTask(instructions) ||
    texts.some((text) => isQuotingTask(text, { isQuoted: texts.length > 1 }))
  );
}

/** A list of tools with a request to name some of them. Clients that call tools for the model do not list them as text. */
function isToolChoice(text: string): boolean {
  return /\bavailable (?:tools|functions)\b\W*[[{]/i.test(text) && TOOL_CHOICE.test(text) && /\bjson\b/i.test(text);
}

const TOOL_CHOICE = /\b(?:choose|select|pick|return|decide)\b[^.\n]{0,80}\b(?:tools?|functions?)\b/i;

/** True if the whole system text is a task. A text that also mentions tools is about more than that. */
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
  // Quoted text is the person's, and says nothing about the task of the page.
  const task = (quote === -1 ? text : text.slice(0, quote)).trim();
  return isFixedTask(task, text) || (CHAT_HISTORY.test(text) ? isTemplate(task) : isTextAboutChat(task));
}

/** Tasks with fixed words, which do not mention a conversation. */
function isFixedTask(task: string, text: string): boolean {
  return (
    (/^(?:#+ *task:?\s+)?you are an? auto-?completion\b/i.test(task) && /<text>/i.test(text)) ||
    /^you have been provided with a set of responses\b/i.test(task) ||
    /^your task is to reflect\b[^.\n]{0,120}\bfitting emoji\b/i.test(task)
  );
}

/** True if the text before the chat history is a task. In a template, everything after its first section is guidelines. */
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

/** The length of the beginning of a text that names its subject, before the guidelines. */
const HEAD_LENGTH = 240;

const CHAT =
  '(?:an?|the|this|our|following|previous|above)\\s+(?:[\\w-]+\\s+){0,2}?(?:chat(?: history)?|conversation|session|dialog(?:ue)?|discussion|messages?(?=\\s*(?:[.:,]|below|above|between|$))|(?<=previous\\s|following\\s)query)\\b(?!\\s+(?:tables?|bot|app|database|api|page|room)\\b)';

const ABOUT_CHAT = new RegExp(`\\b${CHAT}`, 'i');

const VERB = '(?:generate|provide|suggest|create|write|give|propose|output|determine|choose|pick|name)';

/** Words that may precede the verb. */
const LEAD = `(?:#+ *task:?\\s+|please\\s+|your task is to\\s+|you (?:will|must|only)?\\s*|(?:based on|given|from|for) ${CHAT},?\\s+|analy[sz]e ${CHAT} and\\s+)*`;

/**
 * The words between a verb and its object, or a list of objects. A preposition would begin something else: "a ticket with tags".
 */
const OBJECT =
  '(?::[\\s\\S]{0,120}?|(?:(?!\\b(?:with|from|for|in|on|to|of|at|by|against|whose|that|titled|named|called)\\b)[^.:;\\n]){0,100}?|[^.:;\\n]{0,60}\\bas (?:an? |the )?)';

const taskFor = (nouns: string) => new RegExp(`^${LEAD}${VERB}\\b${OBJECT}\\b(?:${nouns})\\b`, 'i');

/** Tasks for what pages store with a conversation. */
const LABEL_TASK = taskFor('titles?|tags?|quer(?:y|ies)|emojis?');

/** Tasks for what pages suggest to say, search or draw next. */
const OFFER_TASK = new RegExp(
  `${taskFor('follow-?\\s?ups?|prompt for a[mn]? image').source}|^analy[sz]e ${CHAT}[^.\\n]{0,80}\\bquer(?:y|ies)\\b`,
  'i',
);

/** A template in another language: the names in the JSON that it asks for, or its word for a title. */
const NAMES_IN_OTHER_LANGUAGES =
  /"(?:title|tags|follow_ups|queries)"\s*:|(?<!\p{L})(?:titel|titre|título|titolo|tytuł|заголовок)(?!\p{L})|标题|標題|タイトル|제목/iu;

/** Requirements for the format of the answer. */
const FORM =
  /\bjson\b|\bconcise\b|\bor (?:less|fewer)\b|\b(?:no|not) more than\b|\bat most\b|\bmax(?:imum)?\b|\bno punctuation\b/i;

/** The requirement that a program can read the answer. */
const ONLY =
  /\bonly (?:return|respond|reply|output)\b|\b(?:return|respond|reply|output)(?: with)? only\b|\bnothing else\b/i;

const CHAT_HISTORY = /<(?:chat_history|conversation|messages)>/i;

/** Matches a quoted conversation, or a message of one. */
const QUOTE =
  /<(?:chat_history|conversation|messages|context)>|^\W{0,4}(?:user|human)\W{0,2}:|\bprompt:|\|\|>\s*user|"""|\bresponses from models\b/im;

/** Matches a second task besides writing the text. */
const SECOND_ACT =
  /\b(?:and|then|afterwards)[,\s]+(?:also\s+|then\s+)?(?:send|e-?mail|mail|pay|post|publish|book|order|buy|delete|remove|save|store|schedule|file|update|submit|share|upload|call|run|transfer|forward|print|create|open|start)\b/i;
