import { z } from 'zod';
import { metadataField } from '../fields.ts';
import { answerersSchema, displaySchema } from './display.ts';
import { jsonSchemaSchema } from './json-schema.ts';

const cardCallSchema = z
  .strictObject({
    kind: z.enum(['result', 'approval', 'input']),
    display: displaySchema.optional(),
    resultSchema: jsonSchemaSchema
      .optional()
      .meta({ description: 'The schema of a result, or for an approval, of an edited input.' }),
    answerers: answerersSchema.optional().meta({ description: 'Default: every member of the space.' }),
    expiresAt: z.int().optional(),
    round: z.int().optional().meta({
      description: 'The number of the question, if the call waits for input. Include it in the answer.',
    }),
    askedInput: z.unknown().optional().meta({ description: 'The original input, if the approver changed it.' }),
    decision: z.enum(['result', 'error', 'approve', 'deny']).optional(),
    by: z.strictObject({ id: z.string(), name: z.string() }).optional().meta({ description: 'Who answered.' }),
    at: z.int().optional().meta({ description: 'When they answered.' }),
    grantId: z.string().optional().meta({
      description: 'The grant that let the call run without waiting. `by` gave it, at `at`.',
    }),
    givenGrantId: z.string().optional().meta({ description: 'The grant that was given with the approval.' }),
    mayGrant: z.literal(false).optional().meta({ description: 'False if its calls cannot be granted in advance.' }),
  })
  .meta({ id: 'CardCall', description: 'What a card shows about its call.' });

export const attachmentSchema: z.ZodObject = z
  .strictObject({ id: z.string(), name: z.string(), mediaType: z.string(), bytes: z.int() })
  .meta({ id: 'Attachment', description: 'A file of a message. `GET /api/artifacts/{id}` returns its bytes.' });

/** A message in a space, or the card of a call. */
export const messageSchema: z.ZodObject = z
  .strictObject({
    id: z.string(),
    spaceId: z.string(),
    seq: z.int(),
    entityId: z.string(),
    kind: z.enum(['text', 'tool']),
    text: z.string(),
    replyTo: z.string().optional(),
    status: z.enum(['running', 'complete', 'error', 'requires_action', 'expired', 'cancelled']),
    attachments: z.array(attachmentSchema).optional(),
    metadata: metadataField.meta({ description: 'For a card: `toolName`, `input`, and `output` once it has ended.' }),
    runId: z.string().optional(),
    callId: z.string().optional(),
    call: cardCallSchema
      .optional()
      .meta({ description: 'Set on the card of a call that waits or waited for an answer.' }),
    createdAt: z.int(),
    updatedAt: z.int(),
  })
  .meta({ id: 'Message', description: 'A message in a space, or the card of a tool call.' });
