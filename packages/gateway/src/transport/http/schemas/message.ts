import { z } from 'zod';
import { metadataField } from '../fields.ts';

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
    metadata: metadataField.meta({ description: 'For a card: `toolName`, `input`, and `output` once it has ended.' }),
    runId: z.string().optional(),
    callId: z.string().optional(),
    createdAt: z.int(),
    updatedAt: z.int(),
  })
  .meta({ id: 'Message', description: 'A message in a space, or the card of a tool call.' });
