import type { ToldConversation } from './items.ts';
import { textOf } from './items.ts';

/**
 * Whether a chat page asks for something of its own: a title, tags, follow-up questions, a search query. The person said none of it,
 * so such a request must have no effects. Pages send them to the agent like any message, and only their wording tells. Where it is
 * taken for one by mistake, the agent answers without its tools.
 */
export function isPageTask({ message, instructions }: ToldConversation): boolean {
  const text = message === undefined ? '' : textOf(message).trimStart();
  return (
    OPEN_WEBUI.some((pattern) => pattern.test(text)) ||
    TITLES.some((start) => text.startsWith(start)) ||
    instructions.startsWith(GOOSE)
  );
}

/** The defaults of Open WebUI: each begins with its task and ends with what was said. People also write tasks in this style. */
const OPEN_WEBUI: readonly RegExp[] = [
  /^### Task:\s[\s\S]*<\/chat_history>\s*$/,
  /^### Task:\s*You are an autocompletion system/,
  /^Your task is to reflect the speaker's likely facial expression/,
];

/** LibreChat's ways to ask for a title. */
const TITLES: readonly string[] = [
  'Provide a concise, 5-word-or-less title for the conversation',
  'Analyze this conversation and provide',
  'Please generate a concise title',
];

const GOOSE = 'Generate a short title (four words or less)';
