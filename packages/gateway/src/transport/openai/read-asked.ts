import type { JsonSchemaObject } from '@lastcall/core';
import { z } from 'zod';
import type { ClientTool, ModelSettings } from '../../domain/conversations/turn-settings.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import type { Asked } from './asked.ts';
import type { CommonFields } from './common-fields.ts';
import type { Item, ReplyReference } from './items.ts';

/** The fields that only one kind of request has. */
interface OwnFields {
  readonly refused: readonly Rule[];
  readonly items: readonly (Item | ReplyReference)[];
  readonly tools: readonly FunctionTool[];
  readonly modelSettings: { readonly [K in keyof ModelSettings]?: ModelSettings[K] | null | undefined };
  readonly format: { readonly value: unknown; readonly path: string };
}

/** A tool of the caller in the format of responses. In chat completions its fields are one level deeper. */
export interface FunctionTool {
  readonly type: string;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly parameters?: JsonSchemaObject | null | undefined;
}

/** Parses a request of either kind. Throws 422 if it asks for something that the gateway does not do. */
export function readAsked(body: CommonFields, { refused, items, tools, modelSettings, format }: OwnFields): Asked {
  refuse(body, refused);
  const clientTools = offeredTools(tools.map(toClientTool), body);
  const toolChoice = chosenTool(body.tool_choice, clientTools);
  const settings = { temperature: body.temperature, topP: body.top_p, ...modelSettings, toolChoice };
  return {
    model: body.model,
    items,
    clientTools,
    modelSettings: { ...(given(settings) as ModelSettings), ...readFormat(format.value, format.path) },
    isStream: body.stream === true,
    isStored: body.store !== false,
    user: body.safety_identifier ?? body.user ?? undefined,
  };
}

function toClientTool({ type, name, description, parameters }: FunctionTool, index: number): ClientTool {
  if (type !== 'function' || name === undefined)
    throw invalid(`tools[${index}].type`, 'must be "function": the agent has its other tools already.');
  return {
    name,
    ...(description == null || description === '' ? {} : { description }),
    ...(parameters == null ? {} : { inputSchema: parameters }),
  };
}

/** The caller's tools that this run offers to the model. */
function offeredTools(tools: readonly ClientTool[], use: CommonFields): readonly ClientTool[] {
  const { tool_choice: choice, parallel_tool_calls: isParallel, store } = use;
  if (choice === 'none' || tools.length === 0) return [];
  if (isParallel === false)
    throw invalid('parallel_tool_calls', 'must not be false: the model may call several tools in one reply.');
  if (store === false)
    throw invalid('store', 'must not be false if tools are set: their calls are stored until you answer them.');
  return tools;
}

/** The tool of the caller that the model has to call. A choice is never one of the agent's tools: these may act outside. */
function chosenTool(choice: unknown, tools: readonly ClientTool[]): ModelSettings['toolChoice'] {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return undefined;
  const [only, ...others] = tools.map(({ name }) => name);
  const toolName = choice === 'required' && others.length === 0 ? only : nameIn(choice);
  if (toolName === undefined || !tools.some(({ name }) => name === toolName))
    throw invalid(
      'tool_choice',
      'must be "auto", "none", one of the functions in tools, or "required" if there is only one: the agent decides about its own tools.',
    );
  return { type: 'tool', toolName };
}

/** In chat completions the name is one level deeper than in responses. */
function nameIn(choice: unknown): string | undefined {
  const { type, name, function: own } = choice as { type?: unknown; name?: string; function?: { name?: string } };
  return type === 'function' ? (name ?? own?.name) : undefined;
}

/** Refuses fields that ask for something that the gateway does not do. */
function refuse(body: object, rules: readonly Rule[]): void {
  const fields = body as Readonly<Record<string, unknown>>;
  for (const [name, isWanted, message] of rules) if (isWanted(fields[name])) throw invalid(name, message);
}

/** How much the model thinks, by OpenAI's words for it. Throws 422 for another word. */
export function readEffort(effort: unknown, path: string): Pick<ModelSettings, 'reasoning'> {
  if (effort === undefined || effort === null) return {};
  const { data, success } = effortSchema.safeParse(effort);
  if (!success) throw invalid(path, `must be one of ${effortSchema.options.join(', ')}.`);
  return { reasoning: data };
}

const effortSchema = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']);

/** A field that is not supported, and why. */
export type Rule = readonly [name: string, isWanted: (value: unknown) => boolean, message: string];

export const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(typeof value === 'object' && isEmpty(value));

function isEmpty(value: object | null): boolean {
  return Object.keys(value ?? {}).length === 0;
}

const formatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().nullish(),
    schema: z.record(z.string(), z.unknown()).optional(),
  }),
]);

/** The format of the answer is passed on to the model. The gateway does not check it. */
function readFormat(format: unknown, path: string): Pick<ModelSettings, 'responseFormat'> {
  if (format === undefined || format === null) return {};
  const { data, success } = formatSchema.safeParse(format);
  if (!success) throw invalid(path, 'must be of type "text", "json_object" or "json_schema".');
  if (data.type === 'text') return {};
  if (data.type === 'json_object') return { responseFormat: { type: 'json' } };
  const { name, description, schema } = data;
  return {
    responseFormat: {
      type: 'json',
      name,
      ...(description == null ? {} : { description }),
      ...(schema === undefined ? {} : { schema }),
    },
  };
}

/** Fields that have a value. */
function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
