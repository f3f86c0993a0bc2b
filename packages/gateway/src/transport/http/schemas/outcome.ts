import { z } from 'zod';

const text = z.string().meta({ description: 'What the model reads.' });

// Tools of the AI SDK may return unknown kinds of parts. They are passed on.
const partSchema = z.looseObject({ type: z.string() }).meta({ description: 'A part that is not text, e.g. an image.' });

/** Notes of the gateway on an outcome of any status. */
const notes = {
  cut: z
    .strictObject({ characters: z.int(), kept: z.boolean() })
    .meta({ id: 'OutputCut', description: 'Set if the output was too large and was cut.' })
    .optional(),
  middleware: z
    .strictObject({
      cache: z.strictObject({ storedAt: z.int() }).optional(),
      repair: z.strictObject({ by: z.enum(['rules', 'model']) }).optional(),
      retry: z.strictObject({ attempts: z.int() }).optional(),
    })
    .meta({ id: 'MiddlewareNotes', description: 'What middleware did to the call.' })
    .optional(),
};

const pendingOutcome = z.strictObject({
  status: z.literal('pending'),
  kind: z.enum(['result', 'approval', 'input']),
  expiresAt: z.number().optional(),
  onExpiry: z.enum(['report', 'fail']).optional(),
  display: z.unknown().optional().meta({ description: 'The display that the tool returned.' }),
  text,
  ...notes,
});

export const outcomeSchema: z.ZodType = z
  .union([
    z.strictObject({
      status: z.literal('ok'),
      value: z.unknown().optional().meta({ description: 'Absent if the tool returned nothing.' }),
      text,
      userText: z.string().optional(),
      content: z.array(partSchema).optional(),
      ...notes,
    }),
    z.strictObject({
      status: z.literal('error'),
      code: z.string(),
      message: z.string(),
      text,
      effect: z.enum(['none', 'possible']).optional(),
      ...notes,
    }),
    z.strictObject({ status: z.enum(['cancelled', 'skipped']), reason: z.string(), text, ...notes }),
    pendingOutcome,
  ])
  .meta({ id: 'Outcome', description: 'How a call ended, or that it waits.' });

export const settlementSchema: z.ZodType = z
  .strictObject({
    callId: z.string(),
    toolName: z.string(),
    input: z.unknown().optional(),
    outcome: outcomeSchema,
    terminal: z.literal(true).optional(),
    startedAt: z.number(),
    endedAt: z.number(),
  })
  .meta({ id: 'Settlement', description: 'A call with its outcome.' });
