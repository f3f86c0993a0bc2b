import { z } from 'zod';
import { invalid } from '../../domain/entities/invalid.ts';
import type { Asked } from './asked.ts';
import { anyFormatSchema, type CommonFields, commonFields, contentSchema, MOST_ITEMS } from './common-fields.ts';
import { type Content, readText, readUserContent } from './content.ts';
import type { Item, ReplyReference } from './items.ts';
import { type FunctionTool, isSet, type Rule, readAsked, readEffort } from './read-asked.ts';

interface InputItem {
  readonly type?: string | null | undefined;
  readonly id?: string | null | undefined;
  readonly role?: string | undefined;
  readonly content?: Content;
  readonly call_id?: string | undefined;
  readonly output?: Content;
}

export interface ResponsesRequest extends CommonFields {
  readonly input: string | readonly InputItem[];
  readonly instructions?: string | null | undefined;
  readonly previous_response_id?: string | null | undefined;
  readonly conversation?: string | { readonly id: string } | null | undefined;
  readonly tools?: readonly FunctionTool[] | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
  readonly text?: { readonly format?: unknown; readonly verbosity?: unknown } | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly reasoning?: { readonly effort?: unknown; readonly summary?: unknown } | null | undefined;
}

const itemSchema = z.looseObject({
  type: z.string().nullish(),
  id: z.string().max(500).nullish(),
  role: z.string().optional(),
  content: contentSchema.nullish(),
  call_id: z.string().optional(),
  output: contentSchema.optional(),
});

const toolSchema = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

/** The same limits as OpenAI's. */
const metadataSchema = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, { error: 'must have at most 16 pairs' });

export const responsesRequestSchema: z.ZodType<ResponsesRequest> = z
  .looseObject({
    ...commonFields,
    input: z.union([z.string().min(1), z.array(itemSchema).min(1).max(MOST_ITEMS)]),
    instructions: z.string().nullish(),
    previous_response_id: z.string().max(500).nullish(),
    conversation: z.union([z.string().max(500), z.looseObject({ id: z.string().max(500) })]).nullish(),
    tools: z.array(toolSchema).max(200).nullish(),
    max_output_tokens: z.int().positive().nullish(),
    text: z.looseObject({ format: anyFormatSchema, verbosity: z.string().nullish() }).nullish(),
    metadata: metadataSchema.nullish(),
    reasoning: z.looseObject({ effort: z.string().max(100).nullish() }).nullish(),
  })
  .meta({ id: 'ResponsesRequest', description: "OpenAI's request, with an agent as the model." });

export function readResponsesRequest(body: ResponsesRequest): Asked {
  const { previous_response_id: previous, conversation } = body;
  if (previous != null && conversation != null)
    throw invalid(
      'conversation',
      'must be absent if previous_response_id is set: both say which conversation continues.',
    );
  if (body.text?.verbosity != null && body.text.verbosity !== 'medium')
    throw invalid('text.verbosity', 'is not supported: say in the instructions how long answers should be.');
  const common = readAsked(body, {
    refused: REFUSED,
    items: itemsOf(body),
    tools: body.tools ?? [],
    modelSettings: {
      maxOutputTokens: body.max_output_tokens,
      ...readEffort(body.reasoning?.effort, 'reasoning.effort'),
    },
    format: { value: body.text?.format, path: 'text.format' },
  });
  return {
    ...common,
    previousRunId: previous == null ? undefined : fromResponseId(previous),
    contextId: conversation == null ? undefined : contextIdOf(conversation),
    repeated: {
      model: body.model,
      ...(body.metadata == null ? {} : { metadata: body.metadata }),
      ...(body.tool_choice === 'none' ? { toolChoice: body.tool_choice } : {}),
    },
  };
}

const REFUSED: readonly Rule[] = [
  ['background', isSet, 'is not supported: a run always continues if its client disconnects.'],
  ['prompt', isSet, 'is not supported: the agent has its instructions.'],
  ['top_logprobs', isSet, 'is not supported.'],
  ['max_tokens', isSet, 'belongs to /v1/chat/completions: use max_output_tokens.'],
  ['max_completion_tokens', isSet, 'belongs to /v1/chat/completions: use max_output_tokens.'],
  ['reasoning_effort', isSet, 'belongs to /v1/chat/completions: use reasoning.effort.'],
  ['stop', isSet, 'belongs to /v1/chat/completions. Responses have no such field.'],
  [
    'seed',
    (value) => value !== undefined && value !== null,
    'belongs to /v1/chat/completions. Responses have no such field.',
  ],
  ['presence_penalty', isSet, 'belongs to /v1/chat/completions. Responses have no such field.'],
  ['frequency_penalty', isSet, 'belongs to /v1/chat/completions. Responses have no such field.'],
  ['max_tool_calls', isSet, 'is not supported: limit the steps of the agent.'],
  ['top_k', isSet, 'is not supported: use top_p.'],
];

export function toResponseId(runId: string): string {
  return `resp_${runId}`;
}

export function fromResponseId(id: string): string {
  return id.replace(/^resp_/, '');
}

export function toConversationId(contextId: string): string {
  return `conv_${contextId}`;
}

function contextIdOf(conversation: string | { readonly id: string }): string {
  return (typeof conversation === 'string' ? conversation : conversation.id).replace(/^conv_/, '');
}

function itemsOf({ input, instructions }: ResponsesRequest): readonly (Item | ReplyReference)[] {
  const own: readonly Item[] = instructions == null ? [] : [{ kind: 'instructions', text: instructions }];
  if (typeof input === 'string') return [...own, { kind: 'user', content: readUserContent(input, 'input') }];
  return [...own, ...input.flatMap((item, index) => toItem(item, `input[${index}]`))];
}

function toItem(item: InputItem, path: string): readonly (Item | ReplyReference)[] {
  const { call_id: callId = '', output } = item;
  const type = item.type ?? (item.role === undefined && item.id != null ? 'item_reference' : 'message');
  switch (type) {
    case 'message':
      return [toMessage(item, path)];
    case 'function_call':
      return [{ kind: 'call', callId }];
    case 'function_call_output':
      return [{ kind: 'answer', callId, output: readText(output, `${path}.output`), path: `${path}.call_id` }];
    case 'item_reference':
      return [toReferenced(item.id ?? '', `${path}.id`)];
    case 'reasoning':
      return [];
    default:
      throw invalid(
        `${path}.type`,
        `must be a message, a function_call or its output, or an item_reference, not "${type.slice(0, 100)}".`,
      );
  }
}

/** Items have the ids that response-object.ts gives them. */
function toReferenced(id: string, path: string): Item | ReplyReference {
  const [, kind, own = ''] = /^(msg|fc)_(.+)$/s.exec(id) ?? [];
  if (kind === undefined) throw invalid(path, 'must be the id of a message or function call of an earlier response.');
  return kind === 'fc' ? { kind: 'call', callId: own } : { kind: 'reference', runId: own, path };
}

function toMessage({ role, content }: InputItem, path: string): Item {
  const at = `${path}.content`;
  switch (role) {
    case 'system':
    case 'developer':
      return { kind: 'instructions', text: readText(content, at) };
    case 'user':
      return { kind: 'user', content: readUserContent(content, at) };
    case 'assistant':
      return { kind: 'assistant', text: readText(content, at) };
    default:
      throw invalid(`${path}.role`, 'must be "user", "assistant", "system" or "developer".');
  }
}
