import { z } from 'zod';
import type { Condition } from '../../../domain/grants/condition.ts';
import type { GrantRequest } from '../../../domain/grants/grant.ts';

const condition = z
  .strictObject({
    field: z.string().min(1).max(500).meta({
      description: 'A JSON Pointer into the input: `/amount`, `/customer/id`. An input without it is not covered.',
    }),
    equals: z.unknown().optional(),
    oneOf: z.array(z.unknown()).min(1).max(50).optional(),
    atLeast: z.number().optional(),
    atMost: z.number().optional(),
  })
  .meta({
    id: 'GrantCondition',
    description: 'What a field of the input has to be like. Every test that is given must pass.',
  });

export const conditionsSchema: z.ZodType<readonly Condition[]> = z.array(condition).max(20);

export const grantLengthSchema: z.ZodEnum<{ run: 'run'; hour: 'hour'; always: 'always' }> = z
  .enum(['run', 'hour', 'always'])
  .meta({ description: 'Until the run ends that continues with the approval, for one hour, or until it is revoked.' });

/** What may be given together with an approval. */
export const grantRequestSchema: z.ZodType<GrantRequest> = z
  .strictObject({ for: grantLengthSchema, conditions: conditionsSchema.optional() })
  .meta({
    id: 'GrantRequest',
    description: 'Approves later calls of the same tool and agent too. `always` needs the scope `write`.',
  });

/** An answer to a call that waits. */
export const answerSchema: z.ZodType = z
  .union([
    z.strictObject({ result: z.unknown() }),
    z.strictObject({ error: z.string() }),
    z.strictObject({
      approve: z.literal(true),
      input: z.unknown().optional(),
      runForReal: z.string().optional().meta({ description: 'Of a call of a fork: the name of its tool.' }),
      grant: grantRequestSchema.optional(),
    }),
    z.strictObject({ deny: z.string() }),
  ])
  .meta({ id: 'Answer', description: 'An answer to a call that waits for its result or for approval.' });
