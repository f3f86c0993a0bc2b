import { z } from 'zod';
import type { ModelSettings } from '../../domain/conversations/turn-settings.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import type { Asked } from './asked.ts';
import { anyFormatSchema, type CommonFields, commonFields, contentSchema, MOST_ITEMS } from './common-fields.ts';
import { type Content, readText, readUserContent } from './content.ts';
import type { Item } from './items.ts';
import { type FunctionTool, isSet, type Rule, readAsked, readEffort } from './read-asked.ts';

interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function';
  readonly content?: Content;
  readonly refusal?: string | null | undefined;
  readonly tool_calls?: readonly { readonly id: string }[] | null | undefined;
  readonly tool_call_id?: string | null | undefined;
}

interface NestedTool {
  readonly type: string;
  readonly function?: (Omit<FunctionTool, 'type' | 'name'> & { readonly name: string }) | undefined;
}

export interface ChatRequest extends CommonFields {
  readonly messages: readonly Message[];
  readonly tools?: readonly NestedTool[] | null | undefined;
  readonly stream_options?: { readonly include_usage?: boolean | null | undefined } | null | undefined;
  readonly max_tokens?: number | null | undefined;
  readonly max_completion_tokens?: number | null | undefined;
  readonly stop?: string | string[] | null | undefined;
  readonly seed?: number | null | undefined;
  readonly reasoning_effort?: string | null | undefined;
  readonly presence_penalty?: number | null | undefined;
  readonly frequency_penalty?: number | null | undefined;
  readonly response_format?: unknown;
}

const messageSchema = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: contentSchema.nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(z.looseObject({ id: z.string() })).nullish(),
  tool_call_id: z.string().nullish(),
});

const toolSchema = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({
      name: z.string(),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    })
    .optional(),
});

export const chatRequestSchema: z.ZodType<ChatRequest> = z
  .looseObject({
    ...commonFields,
    messages: z.array(messageSchema).min(1).max(MOST_ITEMS),
    tools: z.array(toolSchema).max(200).nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_tokens: z.int().positive().nullish(),
    max_completion_tokens: z.int().positive().nullish(),
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
    seed: z.int().nullish(),
    reasoning_effort: z.string().max(100).nullish(),
    presence_penalty: z.number().nullish(),
    frequency_penalty: z.number().nullish(),
    response_format: anyFormatSchema,
  })
  .meta({ id: 'ChatCompletionRequest', description: "OpenAI's request, with an agent as the model." });

export function readChatRequest(body: ChatRequest): Asked {
  return readAsked(body, {
    refused: REFUSED,
    items: body.messages.flatMap((message, index) => toItems(message, `messages[${index}]`)),
    tools: (body.tools ?? []).map(({ type, function: own }) => ({ ...own, type })),
    modelSettings: settingsOf(body),
    format: { value: flatFormat(body.response_format), path: 'response_format' },
  });
}

/** True for a value that is set and is not the default. */
const isUnusual = (usual: string) => (value: unknown) => isSet(value) && value !== usual;

const REFUSED: readonly Rule[] = [
  ['n', (value) => isSet(value) && value !== 1, 'must be 1: one request is one run.'],
  ['logprobs', isSet, 'is not supported: a run calls the model more than once.'],
  ['top_logprobs', isSet, 'is not supported.'],
  ['logit_bias', isSet, 'is not supported.'],
  ['audio', isSet, 'is not supported: the gateway answers with text.'],
  ['modalities', (value) => Array.isArray(value) && value.some((one) => one !== 'text'), 'must be ["text"].'],
  ['functions', isSet, 'is not supported: use tools.'],
  ['function_call', isSet, 'is not supported: use tools.'],
  ['web_search_options', isSet, 'is not supported: give the agent a tool that searches.'],
  ['verbosity', isUnusual('medium'), 'is not supported: say in a system message how long answers should be.'],
  ['max_output_tokens', isSet, 'belongs to /v1/responses: use max_completion_tokens.'],
  ['reasoning', isSet, 'belongs to /v1/responses: use reasoning_effort.'],
  ['max_tool_calls', isSet, 'is not supported: limit the steps of the agent.'],
  ['background', isSet, 'is not supported: a run always continues if its client disconnects.'],
  ['top_k', isSet, 'is not supported: use top_p.'],
];

function toItems({ role, content, refusal, tool_calls, tool_call_id }: Message, path: string): readonly Item[] {
  const at = `${path}.content`;
  switch (role) {
    case 'system':
    case 'developer':
      return [{ kind: 'instructions', text: readText(content, at) }];
    case 'user':
      return [{ kind: 'user', content: readUserContent(content, at) }];
    case 'assistant': {
      const calls = (tool_calls ?? []).map(({ id }): Item => ({ kind: 'call', callId: id }));
      return [{ kind: 'assistant', text: readText(content, at) || (refusal ?? '') }, ...calls];
    }
    case 'tool':
      if (tool_call_id == null) throw invalid(`${path}.tool_call_id`, 'is missing.');
      return [{ kind: 'answer', callId: tool_call_id, output: readText(content, at), path: `${path}.tool_call_id` }];
    case 'function':
      throw invalid(`${path}.role`, 'must not be "function": use tools, and the role "tool".');
  }
}

function settingsOf(body: ChatRequest): { readonly [K in keyof ModelSettings]?: ModelSettings[K] | null | undefined } {
  return {
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stopSequences: toStopSequences(body.stop),
    seed: body.seed,
    ...readEffort(body.reasoning_effort, 'reasoning_effort'),
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
  };
}

/** Chat pages send an empty text where a form was left empty. Providers refuse it as a stop sequence. */
function toStopSequences(stop: ChatRequest['stop']): string[] | undefined {
  const sequences = [stop ?? []].flat().filter((text) => text !== '');
  return sequences.length === 0 ? undefined : sequences;
}

/** In chat completions the schema is one level deeper than in responses. */
function flatFormat(format: unknown): unknown {
  const { type, json_schema: own } = (format ?? {}) as { type?: unknown; json_schema?: object };
  return type === 'json_schema' ? { ...own, type } : format;
}
