import type { LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4Message } from '@ai-sdk/provider';
import { parseJson } from '../parse-json.ts';
import { type RedactText, toRecordedJson } from './recorded-json.ts';

/*
 * Messages in the JSON of the GenAI conventions, for the attributes `gen_ai.input.messages`, `gen_ai.output.messages` and
 * `gen_ai.system_instructions`. They are recorded only if texts are asked for. Files are named by their media type, and are not recorded.
 */

type Part = Readonly<Record<string, unknown>>;
type ContentPart = Exclude<LanguageModelV4Message['content'], string>[number] | LanguageModelV4Content;
type Texts = Readonly<Record<string, string>>;

/** The attributes of a request: what the model reads. */
export function inputTexts({ prompt, tools = [] }: LanguageModelV4CallOptions, redact: RedactText): Texts {
  const system = prompt.flatMap((message) => (message.role === 'system' ? [textPart(message.content)] : []));
  const messages = prompt.flatMap(({ role, content }) =>
    typeof content === 'string' ? [] : [{ role, parts: content.flatMap(toParts) }],
  );
  return {
    ...(system.length === 0 ? {} : { 'gen_ai.system_instructions': toRecordedJson(system, redact) }),
    'gen_ai.input.messages': toRecordedJson(messages, redact),
    ...(tools.length === 0 ? {} : { 'gen_ai.tool.definitions': toRecordedJson(tools, redact) }),
  };
}

/** The attributes of a reply: what the model said. */
export function outputTexts(
  content: readonly LanguageModelV4Content[],
  finishReason: string,
  redact: RedactText,
): Texts {
  const message = { role: 'assistant', parts: content.flatMap(toParts), finish_reason: finishReason };
  return { 'gen_ai.output.messages': toRecordedJson([message], redact) };
}

function toParts(part: ContentPart): readonly Part[] {
  switch (part.type) {
    case 'text':
      return [textPart(part.text)];
    case 'reasoning':
      return [{ type: 'reasoning', content: part.text }];
    case 'tool-call':
      return [{ type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: toArguments(part.input) }];
    case 'tool-result':
      return [
        { type: 'tool_call_response', id: part.toolCallId, response: 'output' in part ? part.output : part.result },
      ];
    case 'file':
      return [{ type: 'file', mime_type: part.mediaType }];
    default:
      return [];
  }
}

/** A model writes arguments as JSON, and a conversation has them as values. */
function toArguments(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return parseJson(input);
  } catch {
    return input;
  }
}

function textPart(content: string): Part {
  return { type: 'text', content };
}
