import { z } from 'zod';
import { usageSchema } from './usage.ts';

const cost = z.number().optional().meta({ description: 'If the prices of its models are configured.' });

export const subAgentTurnSchema: z.ZodType = z
  .strictObject({
    callId: z.string().meta({ description: 'The call that ran the sub-agent, perhaps a call of another sub-agent.' }),
    usage: usageSchema,
    cost,
    steps: z.array(
      z.strictObject({
        step: z.int(),
        text: z.string(),
        model: z.string().optional(),
        usage: usageSchema,
        cost,
        calls: z.array(
          z.strictObject({
            callId: z.string(),
            toolName: z.string(),
            input: z.string().meta({ description: 'The arguments as the model wrote them.' }),
            status: z
              .enum(['ok', 'error', 'cancelled', 'skipped', 'pending'])
              .optional()
              .meta({ description: 'Absent if the sub-agent ended before the call did.' }),
            output: z.string().optional(),
            startedAt: z.int().optional(),
            endedAt: z.int().optional(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'SubAgentTurn', description: 'What a sub-agent did in a call. Texts over 4,000 characters are cut.' });
