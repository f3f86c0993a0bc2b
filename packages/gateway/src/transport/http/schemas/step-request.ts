import { z } from 'zod';
import { modelMessageSchema } from './transcript-entry.ts';

export const stepRequestSchema: z.ZodType = z
  .strictObject({
    model: z.string().optional(),
    instructions: z.string().meta({ description: 'The system text.' }),
    messages: z.array(modelMessageSchema),
    tools: z.array(
      z
        .looseObject({ type: z.string(), name: z.string().optional() })
        .meta({ description: 'A tool as the model was offered it: name, description, input schema.' }),
    ),
    settings: z
      .looseObject({
        maxOutputTokens: z.number().optional(),
        temperature: z.number().optional(),
        toolChoice: z.looseObject({ type: z.string() }).optional(),
      })
      .meta({ description: 'All other parameters of the request.' }),
  })
  .meta({ id: 'StepRequest', description: 'The request to the model in a step. Only the frame tag is hidden.' });
