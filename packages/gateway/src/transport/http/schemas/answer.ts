import { z } from 'zod';

/** An answer to a call that waits. */
export const answerSchema: z.ZodType = z
  .union([
    z.strictObject({ result: z.unknown() }),
    z.strictObject({ error: z.string() }),
    z.strictObject({
      approve: z.literal(true),
      input: z.unknown().optional(),
      runForReal: z.string().optional().meta({ description: 'Of a call of a fork: the name of its tool.' }),
    }),
    z.strictObject({ deny: z.string() }),
  ])
  .meta({ id: 'Answer', description: 'An answer to a call that waits for its result or for approval.' });
