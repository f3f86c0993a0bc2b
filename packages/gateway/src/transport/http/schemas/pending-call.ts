import { z } from 'zod';
import { answerSchema } from './answer.ts';
import { answerersSchema, displaySchema } from './display.ts';
import { jsonSchemaSchema } from './json-schema.ts';

export const waitStatusSchema: z.ZodEnum<{
  pending: 'pending';
  resolved: 'resolved';
  expired: 'expired';
  cancelled: 'cancelled';
}> = z.enum(['pending', 'resolved', 'expired', 'cancelled']);

export const waitingCallSchema: z.ZodType = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    agentId: z.string(),
    spaceId: z.string().optional(),
    toolName: z.string(),
    node: z.string().optional().meta({ description: 'The node of the machine that asks, if the agent is one.' }),
    kind: z.enum(['result', 'approval', 'input']),
    input: z.unknown().optional(),
    display: displaySchema.optional(),
    answeredBy: answerersSchema.optional(),
    resultSchema: jsonSchemaSchema.optional(),
    status: waitStatusSchema,
    answer: answerSchema.optional().meta({ description: 'The answer that counted.' }),
    resolvedBy: z.string().optional(),
    resolvedByName: z.string().optional(),
    lateAnswers: z
      .array(z.strictObject({ answer: answerSchema, by: z.string(), byName: z.string().optional(), at: z.int() }))
      .optional()
      .meta({ description: 'Answers that came after the call ended, or after the answer that counted.' }),
    expiresAt: z.int().optional(),
    round: z.int().optional().meta({ description: 'The number of the question, if the call waits for input.' }),
    duringCall: z.string().optional().meta({ description: 'The open call that asks.' }),
    createdAt: z.int(),
    mayGrant: z
      .literal(false)
      .optional()
      .meta({ description: 'False for an approval whose call cannot be granted in advance.' }),
    resolvedAt: z.int().optional(),
    job: z
      .strictObject({
        claims: z.int(),
        worker: z.string().optional(),
        claimedUntil: z.int().optional(),
      })
      .optional()
      .meta({ description: 'Present if workers may claim the call.' }),
  })
  .meta({ id: 'PendingCall', description: 'A call that waits for an answer from outside the run.' });
