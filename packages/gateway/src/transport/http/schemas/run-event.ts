import { z } from 'zod';
import { outcomeSchema } from './outcome.ts';
import { stopSchema } from './stop.ts';
import { resetEventSchema, streamEvent } from './stream-event.ts';

const runId = z.string();

/** All that the stream of a run may say. */
export const runEventSchema: z.ZodType = z
  .union([
    streamEvent('run.start', { runId, agentId: z.string() }),
    streamEvent(
      ['tool-call.complete', 'tool-call.error', 'tool-call.cancelled', 'tool-call.skipped', 'tool-call.pending'],
      { callId: z.string(), toolName: z.string(), input: z.unknown().optional(), outcome: outcomeSchema },
    ),
    streamEvent('run.cancelling', { runId }),
    streamEvent('run.end', { runId, status: z.enum(['completed', 'failed', 'cancelled']), stop: stopSchema }),
    resetEventSchema,
  ])
  .meta({ id: 'RunEvent', description: "An event of a run's stream." });
