import type { LanguageModelV4Message } from '@ai-sdk/provider';

/**
 * The caller's conversation as one text of JSON lines. As messages it would contain calls of tools that the sub-agent
 * does not have, which some providers refuse, and the sub-agent would take the caller's replies for its own.
 */
export function renderContext(messages: readonly LanguageModelV4Message[]): string {
  const lines = messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => JSON.stringify({ role, content: (content as readonly Part[]).map(toShort) }));
  return [HEAD, ...lines].join('\n');
}

const HEAD =
  'The conversation of the agent that calls you, as JSON lines. It is for your information: the task follows.';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

function toShort(part: Part): unknown {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'tool-call':
      return { toolCall: part.toolName, input: part.input };
    case 'tool-result':
      return { toolResult: part.toolName, output: part.output.type === 'content' ? '[content]' : part.output };
    default:
      // Reasoning is private to the caller, and files are not text.
      return `[${part.type}]`;
  }
}
