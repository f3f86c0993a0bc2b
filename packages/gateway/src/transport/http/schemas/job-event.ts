import { z } from 'zod';
import { resetEventSchema, streamEvent } from './stream-event.ts';

const callId = z.string();

/** Jobs that wait when the stream opens come first, without a number, because they are not stored events. */
const available = z.strictObject({
  seq: z.int().optional(),
  at: z.int().optional(),
  type: z.literal('job.available'),
  callId,
  runId: z.string(),
  agentId: z.string(),
  toolName: z.string(),
  claims: z.int().meta({ description: 'How often the job was claimed before.' }),
  expiresAt: z.int().optional(),
});

/** Every event of the stream of an agent's jobs. */
export const jobEventSchema: z.ZodType = z
  .union([
    available,
    streamEvent('job.claimed', { callId, worker: z.string(), claimedUntil: z.int() }),
    streamEvent('job.progress', { callId, value: z.unknown().optional() }),
    streamEvent('job.ended', { callId, status: z.enum(['pending', 'resolved', 'expired', 'cancelled']) }),
    resetEventSchema,
  ])
  .meta({ id: 'JobEvent', description: "An event of the stream of an agent's jobs." });
