import { z } from 'zod';
import type { ContentPart } from './content.ts';

/**
 * The fields that both kinds of request have in common. Unknown fields are ignored, but no field that says how the model is asked: it is
 * honoured, or refused in chat-request.ts and responses-request.ts.
 */
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

/** The largest number of items in a conversation: far more than a model reads, and few enough to process. */
export const MOST_ITEMS = 10_000;

export const contentSchema: z.ZodType<string | ContentPart[]> = z
  .union([
    z.string(),
    z.array(
      z.looseObject({
        type: z.string(),
        text: z.string().nullish(),
        refusal: z.string().nullish(),
        image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).nullish(),
      }),
    ),
  ])
  .meta({ id: 'OpenAiContent', description: 'A text, or a list of parts.' });

/** The schema for the OpenAPI document. read-asked.ts checks the supported formats. */
export const anyFormatSchema: z.ZodType = z.looseObject({ type: z.string() }).nullish();
