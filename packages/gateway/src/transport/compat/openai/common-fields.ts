import { z } from 'zod';
import type { ClientTool, ModelSettings } from '../../../domain/contexts/turn-settings.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import type { ContentPart } from './content.ts';

/** What both kinds of request have in common. Fields that are not listed are ignored. */
export interface CommonFields {
  readonly model: string;
  readonly stream?: boolean | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly store?: boolean | null | undefined;
  readonly user?: string | null | undefined;
  readonly safety_identifier?: string | null | undefined;
  readonly parallel_tool_calls?: boolean | null | undefined;
  readonly tool_choice?: unknown;
}

type Schemas<T> = { readonly [K in keyof T]-?: z.ZodType<T[K]> };

export const commonFields: Schemas<CommonFields> = {
  model: z.string().min(1).max(500).meta({ description: "An agent's name or id." }),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  store: z.boolean().nullish().meta({ description: 'False: the messages are removed when the run ends.' }),
  user: z.string().max(500).nullish(),
  safety_identifier: z.string().max(500).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
};

/** What a conversation may have. Far more than a model reads, and little enough to go through. */
export const MOST_ITEMS = 10_000;

export const contentSchema: z.ZodType<string | ContentPart[]> = z.union([
  z.string(),
  z.array(
    z.looseObject({
      type: z.string(),
      text: z.string().optional(),
      refusal: z.string().optional(),
      image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).nullish(),
    }),
  ),
]);

/** The caller's tools as this run offers them. */
export function offeredTools(tools: readonly ClientTool[], use: CommonFields): readonly ClientTool[] {
  const { tool_choice: choice, parallel_tool_calls: isParallel, store } = use;
  if (choice === 'none' || tools.length === 0) return [];
  if (choice !== undefined && choice !== null && choice !== 'auto')
    throw invalid('tool_choice', 'must be "auto" or "none": the agent decides, and has tools of its own.');
  if (isParallel === false)
    throw invalid('parallel_tool_calls', 'must not be false: the model may call several tools in one reply.');
  if (store === false)
    throw invalid('store', 'must not be false beside tools: their calls are stored until you answer them.');
  return tools;
}

/** Refuses what asks for something that the gateway would not do. */
export function refuse(body: object, rules: readonly Rule[]): void {
  const fields = body as Readonly<Record<string, unknown>>;
  for (const [name, isWanted, message] of rules) if (isWanted(fields[name])) throw invalid(name, message);
}

/** A field that asks for something, and why it cannot be had. */
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

/** As the document shows it: what of it is understood, `readFormat` says. */
export const anyFormatSchema: z.ZodType = z.looseObject({ type: z.string() }).nullish();

/** The format of the answer goes to the model. The gateway does not check it. */
export function readFormat(format: unknown, path: string): Pick<ModelSettings, 'responseFormat'> {
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
export function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
