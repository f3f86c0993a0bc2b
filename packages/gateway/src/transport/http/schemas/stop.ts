import { z } from 'zod';

/** Why a run ended. docs/turns.md explains each reason. */
export const stopSchema: z.ZodType = z
  .union([
    z.strictObject({ reason: z.literal('end_turn'), by: z.literal('text') }),
    z.strictObject({ reason: z.literal('end_turn'), by: z.enum(['terminal', 'terminating']), tool: z.string() }),
    z.strictObject({
      reason: z.literal('transition'),
      tool: z.string(),
      callId: z.string(),
      value: z.unknown().optional(),
    }),
    z.strictObject({ reason: z.literal('budget'), dimension: z.enum(['tokens', 'toolCalls', 'money']) }),
    z.strictObject({
      reason: z.enum([
        'suspended',
        'max_steps',
        'deadline',
        'aborted',
        'length',
        'content_filter',
        'max_invocations',
        'max_nudges',
      ]),
    }),
    z.strictObject({
      reason: z.literal('error'),
      error: z.string(),
      code: z.string().optional().meta({ description: 'For programs: `no_progress`. Most failures have none.' }),
    }),
  ])
  .meta({ id: 'Stop', description: 'Why a run ended.' });
