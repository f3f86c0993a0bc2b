import { z } from 'zod';
import { answerSchema } from './answer.ts';
import { settlementSchema } from './outcome.ts';
import { stopSchema } from './stop.ts';
import { usageSchema } from './usage.ts';

const callId = z.string();

/**
 * A part of a message. Providers add kinds of parts in patch releases, so only the type is guaranteed. `inbox` and `summary` are
 * the gateway's own: the events that woke the agent, and what it remembers of earlier runs.
 */
const partSchema = z.looseObject({ type: z.string() }).meta({ id: 'MessagePart', description: 'A part of a message.' });

export const modelMessageSchema: z.ZodType = z
  .looseObject({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.union([z.string(), z.array(partSchema)]),
  })
  .meta({ id: 'ModelMessage', description: 'A message as the model receives it.' });

const requestedCall = z.strictObject({
  callId,
  toolName: z.string(),
  input: z.string().meta({ description: 'The arguments as the model wrote them.' }),
  providerCallId: z.string().optional(),
  provided: z.strictObject({ result: z.unknown().optional(), isError: z.boolean() }).optional(),
});

const changeSchema = z.looseObject({ kind: z.string() });

/** Which instance of a machine wrote the entry. Absent in the entries of other agents. */
const origin = {
  thread: z.string().optional().meta({ description: 'Of a machine: the conversation of the instance.' }),
  instanceId: z.string().optional(),
  node: z.string().optional().meta({ description: 'Of a machine: the node of the instance.' }),
  begins: z
    .literal(true)
    .optional()
    .meta({ description: 'Of a machine: the entry is the first of a turn of its instance.' }),
  also: z
    .array(changeSchema)
    .optional()
    .meta({ description: 'Of a machine: changes that were written with the entry.' }),
};

/** One thing that happened in a run. */
export const transcriptEntrySchema: z.ZodType = z
  .union([
    z.strictObject({ kind: z.literal('turn'), session: z.literal('kept').optional(), ...origin }),
    z.strictObject({
      kind: z.literal('message'),
      message: modelMessageSchema,
      logged: z.boolean().optional(),
      ...origin,
    }),
    z.strictObject({
      kind: z.literal('reply'),
      step: z.int(),
      content: z.array(partSchema),
      calls: z.array(requestedCall),
      text: z.string(),
      finishReason: z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']),
      usage: usageSchema,
      provider: z.string().optional(),
      model: z.string().optional(),
      startedAt: z.number().optional(),
      endedAt: z.number().optional(),
      attempts: z.int().optional().meta({ description: 'How often the model was asked for this reply.' }),
      warnings: z
        .array(z.string())
        .optional()
        .meta({ description: 'What the provider said about the request, e.g. that it does not support a setting.' }),
      systemAsUser: z
        .literal(true)
        .optional()
        .meta({ description: 'System messages after the first were sent as user messages.' }),
      ...origin,
    }),
    z.strictObject({ kind: z.literal('started'), callId, answer: answerSchema.optional(), ...origin }),
    z.strictObject({ kind: z.literal('pending'), settlement: settlementSchema, ...origin }),
    z.strictObject({
      kind: z.literal('settled'),
      settlement: settlementSchema,
      answer: answerSchema.optional(),
      slot: z.string().optional(),
      endsTurn: z.strictObject({ response: z.string(), output: z.unknown().optional() }).optional(),
      late: z.literal(true).optional(),
      told: z.literal(true).optional(),
      ...origin,
    }),
    z.strictObject({ kind: z.literal('trimmed'), step: z.int(), keep: z.array(callId), ...origin }),
    z.strictObject({
      kind: z.literal('nudge'),
      why: z.enum(['no-call', 'length', 'last-word']),
      role: z.enum(['system', 'user']),
      text: z.string(),
      ...origin,
    }),
    z.strictObject({ kind: z.literal('checkpoint'), ...origin }),
    z.strictObject({ kind: z.literal('compensating'), callId, ...origin }),
    z.strictObject({
      kind: z.literal('rewind'),
      callId,
      text: z.string(),
      remaining: z.array(z.string()),
      ...origin,
    }),
    z.strictObject({ kind: z.literal('stop'), stop: stopSchema, ...origin }),
    z.strictObject({ kind: z.literal('compaction'), summary: z.string() }).meta({
      description: 'From here on the agent remembers the summary instead of the entries before it.',
    }),
    z
      .strictObject({ kind: z.literal('machine'), change: changeSchema, also: origin.also })
      .meta({ description: 'A change of the tree of a machine.' }),
    z
      .looseObject({ kind: z.literal('input') })
      .meta({ description: 'What the run gave to its machine: messages, answers and commands.' }),
    z
      .strictObject({
        kind: z.literal('command-result'),
        key: z.string(),
        name: z.string(),
        output: z.unknown().optional(),
        error: z.string().optional(),
      })
      .meta({ description: 'How a command to the machine ended. `error` is set if it failed.' }),
  ])
  .meta({ id: 'TranscriptEntry', description: 'One thing that happened in a run.' });
