import { z } from 'zod';

const answeredBy = z.strictObject({ entityId: z.string(), name: z.string() });

const toolResultOutcome = z.union([
  z.strictObject({ status: z.literal('ok'), value: z.unknown().optional() }),
  z.strictObject({ status: z.literal('error'), message: z.string() }),
  z.strictObject({ status: z.literal('expired') }),
  z.strictObject({ status: z.literal('approved'), input: z.unknown().optional() }),
  z.strictObject({ status: z.literal('denied'), reason: z.string() }),
  z.strictObject({ status: z.literal('answered'), round: z.int() }),
]);

/** An event that wakes an agent, as its inbox stores it. */
export const inboxEventSchema: z.ZodType = z
  .union([
    z.strictObject({
      type: z.literal('space_message'),
      messageId: z.string(),
      seq: z.int().optional(),
      spaceId: z.string(),
      spaceName: z.string(),
      spaceNumber: z.int().optional(),
      from: z.strictObject({
        entityId: z.string(),
        name: z.string(),
        kind: z.enum(['human', 'agent', 'service']),
      }),
      text: z.string(),
      replyTo: z.string().optional(),
      replyToSeq: z.int().optional(),
    }),
    z.strictObject({
      type: z.literal('tool_result'),
      callId: z.string(),
      toolName: z.string(),
      input: z.unknown().optional(),
      outcome: toolResultOutcome,
      resolvedBy: answeredBy.optional(),
    }),
    z.strictObject({
      type: z.literal('plan'),
      planId: z.string(),
      key: z.string(),
      name: z.string(),
      instruction: z.string(),
      dueAt: z.int(),
      late: z.literal(true).optional(),
    }),
    z.strictObject({
      type: z.literal('service'),
      source: z.string(),
      name: z.string(),
      data: z.unknown().optional(),
    }),
    z.strictObject({
      type: z.literal('chat'),
      runId: z.string(),
      messages: z.array(z.looseObject({ role: z.string() })),
      isAnswer: z.literal(true).optional(),
      settings: z.looseObject({}),
    }),
    z.strictObject({
      type: z.literal('command'),
      name: z.string(),
      input: z.unknown().optional(),
      instanceId: z.string().optional(),
      hasRun: z
        .literal(true)
        .optional()
        .meta({ description: 'The command has run, in a run that stopped after it. The machine goes on.' }),
    }),
  ])
  .meta({ id: 'InboxEvent', description: 'An event that wakes an agent.' });

/** Why an event is dead or withheld, or why it was tried again. */
export const inboxErrorSchema: z.ZodType = z
  .union([
    z.strictObject({ reason: z.literal('error'), error: z.string() }),
    z.strictObject({ reason: z.literal('budget'), until: z.int() }).meta({
      description: 'A spend limit of the day is reached. The event waits until then.',
    }),
    z.strictObject({ code: z.enum(['agent_deleted', 'hop_limit', 'inbox_full']), message: z.string() }),
  ])
  .meta({ id: 'InboxError', description: 'Why the last attempt failed, or why the event waits, is dead or withheld.' });
