import { z } from 'zod';
import { outcomeSchema } from './outcome.ts';
import { stopSchema } from './stop.ts';
import { transcriptEntrySchema } from './transcript-entry.ts';
import { usageSchema } from './usage.ts';

export const runStatusSchema: z.ZodEnum<{
  running: 'running';
  completed: 'completed';
  failed: 'failed';
  cancelled: 'cancelled';
}> = z.enum(['running', 'completed', 'failed', 'cancelled']);

export const runSchema: z.ZodObject = z
  .strictObject({
    id: z.string(),
    agentId: z.string(),
    threadId: z.string(),
    cycle: z.int(),
    status: runStatusSchema,
    trigger: z
      .array(z.strictObject({ eventId: z.string(), type: z.enum(['space_message', 'tool_result', 'plan', 'service']) }))
      .meta({ description: 'The events that woke the agent.' }),
    stop: stopSchema.optional(),
    usage: usageSchema.optional(),
    configVersion: z.int(),
    cancelRequestedAt: z.int().optional(),
    createdAt: z.int(),
    endedAt: z.int().optional(),
  })
  .meta({ id: 'Run', description: 'One cycle of an agent.' });

export const runEntrySchema: z.ZodType = z
  .strictObject({
    seq: z.int().meta({ description: 'The number within the thread, across its runs.' }),
    kind: z.string(),
    at: z.int(),
    entry: transcriptEntrySchema,
  })
  .meta({ id: 'RunEntry', description: 'An entry of the transcript of a run.' });

export const runCallSchema: z.ZodType = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    toolName: z.string(),
    status: z.enum(['planned', 'started', 'settled', 'pending']),
    outcome: outcomeSchema.optional().meta({ description: 'Absent while the call runs.' }),
    createdAt: z.int(),
    settledAt: z.int().optional(),
  })
  .meta({ id: 'RunCall', description: 'A call of a run, with its whole output.' });
