import { z } from 'zod';

export const usageSchema: z.ZodType = z
  .strictObject({
    inputTokens: z.number(),
    outputTokens: z.number(),
    totalTokens: z.number(),
    cachedTokens: z
      .number()
      .optional()
      .meta({ description: 'Of the input tokens, those that the provider read from its cache.' }),
    reasoningTokens: z.number().optional().meta({ description: 'Of the output tokens, those of reasoning.' }),
    estimated: z
      .literal(true)
      .optional()
      .meta({ description: 'The provider counted nothing, or not everything, so the gateway estimated the tokens.' }),
  })
  .meta({ id: 'Usage', description: 'Tokens.' });
