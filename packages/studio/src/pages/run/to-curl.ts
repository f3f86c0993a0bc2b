import type { ModelMessage, StepRequest } from '@lastcall/client';

/**
 * The request as a command, in the format of OpenAI's chat completions, which most providers and local servers speak. Where it goes and
 * with which key are variables: a copied command has no secret.
 */
export function toCurl({ model, instructions, messages, tools, settings }: StepRequest): string {
  const body = {
    ...toSettings(settings),
    model: (model ?? 'MODEL').replace(/^[^/]+\//, ''),
    messages: [{ role: 'system', content: instructions }, ...messages.flatMap(toChatMessages)],
    ...(tools.length === 0 ? {} : { tools: tools.map(toFunction) }),
  };
  return [
    'curl "$MODEL_URL/chat/completions"',
    '-H "authorization: Bearer $MODEL_KEY"',
    "-H 'content-type: application/json'",
    `-d ${quoted(JSON.stringify(body, null, 2))}`,
  ].join(' \\\n  ');
}

/** Those that both formats have. */
function toSettings({ maxOutputTokens, temperature, toolChoice }: StepRequest['settings']): object {
  return {
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(toolChoice === undefined ? {} : { tool_choice: toChoice(toolChoice) }),
  };
}

function toChoice({ type, toolName }: NonNullable<StepRequest['settings']['toolChoice']>): unknown {
  return type === 'tool' ? { type: 'function', function: { name: toolName } } : type;
}

type Part = Exclude<ModelMessage['content'], string>[number];

function toChatMessages({ role, content }: ModelMessage): readonly object[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool') return content.map((part) => ({ role, tool_call_id: part.toolCallId, content: textOf(part) }));
  const text = content
    .filter(({ type }) => type === 'text')
    .map(textOf)
    .join('\n');
  const calls = content.filter(({ type }) => type === 'tool-call').map(toCall);
  return [{ role, content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

function toCall({ toolCallId, toolName, input }: Part): object {
  return { id: toolCallId, type: 'function', function: { name: toolName, arguments: JSON.stringify(input) } };
}

function toFunction({ name, ...tool }: StepRequest['tools'][number]): object {
  const { description, inputSchema } = tool as { description?: string; inputSchema?: unknown };
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function textOf(part: Part): string {
  if (typeof part.text === 'string') return part.text;
  const { value = part.output } = (part.output ?? {}) as { value?: unknown };
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
