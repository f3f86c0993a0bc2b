import { z } from 'zod';

export const usageSchema: z.ZodType = z
  .strictObject({ inputTokens: z.number(), outputTokens: z.number(), totalTokens: z.number() })
  .meta({ id: 'Usage', description: 'Tokens.' });
