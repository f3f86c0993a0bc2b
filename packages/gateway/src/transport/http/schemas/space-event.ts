import { z } from 'zod';
import { messageSchema } from './message.ts';
import { spaceSchema } from './space.ts';
import { resetEventSchema, streamEvent } from './stream-event.ts';

const callId = z.string();
const delta = z.string();
const about = { runId: z.string(), entityId: z.string() };

/** The fields of a call before it has a card. */
const startFields = {
  callId,
  streamId: z.string(),
  toolName: z.string(),
  entityId: z.string(),
  runId: z.string().optional(),
  messageId: z.string().optional(),
  message: messageSchema.optional().meta({ description: 'The card, if there is one: an approved call starts again.' }),
};

/** Every event of the stream of a space. */
export const spaceEventSchema: z.ZodType = z
  .union([
    streamEvent('message.start', {
      streamId: z.string(),
      messageId: z.string(),
      replyTo: z.string().optional(),
      ...about,
    }),
    streamEvent('message.delta', { streamId: z.string(), delta }),
    streamEvent('message.complete', { streamId: z.string(), message: messageSchema }),
    streamEvent('message.cancelled', { streamId: z.string(), reason: z.string() }),
    streamEvent('tool-call.start', startFields),
    streamEvent('tool-input-delta', { callId, delta }),
    streamEvent('tool-call.progress', { callId, value: z.unknown().optional() }),
    streamEvent(['tool-call.complete', 'tool-call.error', 'tool-call.requires-action', 'tool-call.expired'], {
      callId,
      message: messageSchema,
    }),
    streamEvent('tool-call.cancelled', {
      callId,
      message: messageSchema.optional(),
      reason: z.string().optional().meta({ description: 'Set if the call never had a card.' }),
    }),
    streamEvent(['agent.active', 'agent.inactive'], about),
    streamEvent('agent.failed', {
      ...about,
      attempt: z.int(),
      retryAt: z.int().optional().meta({ description: 'Absent if there is no further attempt.' }),
      text: z.string(),
    }),
    streamEvent(['member.joined', 'member.left'], { entityId: z.string(), role: z.string() }),
    streamEvent('space.changed', { space: spaceSchema }),
    resetEventSchema,
  ])
  .meta({ id: 'SpaceEvent', description: "An event of a space's stream." });
