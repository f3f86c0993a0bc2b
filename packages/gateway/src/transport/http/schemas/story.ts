import { z } from 'zod';
import { callStatusSchema, runSchema, runStatusSchema } from './run.ts';

const storyWaitSchema = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    toolName: z.string(),
    kind: z.enum(['result', 'approval', 'input']),
    status: callStatusSchema,
    since: z.int(),
    until: z.int().optional().meta({ description: 'When it was answered, expired or was cancelled.' }),
    expiresAt: z.int().optional(),
    decision: z.enum(['result', 'error', 'approve', 'deny']).optional(),
    edited: z.literal(true).optional().meta({ description: 'The input was changed before it was approved.' }),
    by: z.string().optional().meta({ description: 'The name of the person or service that answered.' }),
  })
  .meta({ id: 'StoryWait', description: 'How a call of a task waited for an answer.' });

export const storySchema: z.ZodType = z
  .strictObject({
    id: z.string().meta({ description: 'The run that began it.' }),
    status: z.enum([...runStatusSchema.options, 'queued']).meta({
      description: '`queued`: its next run has not started. That may be a further attempt of one that failed.',
    }),
    runs: z.array(runSchema).meta({
      description:
        'Oldest first, at most 50: of a longer task, the first run and those around the one that was asked for.',
    }),
    waits: z.array(storyWaitSchema),
    startedAt: z.int(),
    endedAt: z.int().optional().meta({ description: 'Absent while it runs or waits.' }),
    truncated: z.literal(true).optional().meta({ description: 'The task has more runs than one answer has.' }),
  })
  .meta({
    id: 'Story',
    description: 'A task, from the words that caused it to its end: all its runs, and how long it waited for answers.',
  });
