import { z } from 'zod';
import { CALL_STATUSES, type CallStatus, COUNTED_STATUSES } from '../../../domain/calls/call-status.ts';
import { chatAnswerSchema } from '../chat-answer.ts';
import { changesSchema } from './changes.ts';
import { draftSchema, forkedFromSchema, trialSchema } from './fork.ts';
import { messageSchema } from './message.ts';
import { outcomeSchema } from './outcome.ts';
import { waitingCallSchema } from './pending-call.ts';
import { takeoverFields } from './run-event.ts';
import { stopSchema } from './stop.ts';
import { subAgentTurnSchema } from './sub-agent-turn.ts';
import { transcriptEntrySchema } from './transcript-entry.ts';
import { usageSchema } from './usage.ts';

export const runStatusSchema: z.ZodEnum<{
  running: 'running';
  waiting: 'waiting';
  completed: 'completed';
  failed: 'failed';
  cancelled: 'cancelled';
}> = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']);

/** How a call stands, in one word. */
export const callStatusSchema: z.ZodEnum<{ [status in CallStatus]: status }> = z.enum(CALL_STATUSES);

export const runSchema: z.ZodObject = z
  .strictObject({
    id: z.string(),
    agentId: z.string(),
    threadId: z.string(),
    number: z.int(),
    status: z.enum([...runStatusSchema.options, 'queued']).meta({
      description:
        '`queued`: it has not started. It has a request of a conversation, or the answer to a waiting call. `waiting`: it has stopped, and a call of it waits for an answer.',
    }),
    trigger: z
      .array(
        z.strictObject({
          eventId: z.string(),
          type: z.enum(['space_message', 'tool_result', 'plan', 'service', 'chat', 'command']),
          by: z.string().optional().meta({ description: 'Who sent it, answered, or pushed it, by name.' }),
          text: z.string().optional().meta({ description: 'Its text, at most 200 characters.' }),
          spaceId: z.string().optional(),
          callId: z.string().optional().meta({ description: 'The call that was answered.' }),
        }),
      )
      .meta({ description: 'The events that woke the agent.' }),
    stop: stopSchema.optional(),
    usage: usageSchema.optional(),
    configVersion: z.int(),
    mode: z.string().optional(),
    attempt: z.int().meta({ description: 'The number of attempts for its events, including this one.' }),
    retryOf: z.string().optional().meta({ description: 'The run that tried them before.' }),
    continuedBy: z.string().optional().meta({
      description: 'The run that got the answer to a call that waited in this one. Absent in lists.',
    }),
    worker: z.string().optional().meta({ description: 'The worker of a gateway that runs it, or ran it last.' }),
    takeovers: z
      .array(z.strictObject({ at: z.int(), ...takeoverFields }))
      .optional()
      .meta({ description: 'When another worker continued it, oldest first.' }),
    counts: z
      .strictObject(Object.fromEntries(COUNTED_STATUSES.map((status) => [status, z.int()])))
      .meta({ description: 'The number of its calls by status.' }),
    model: z.string().optional().meta({ description: 'The model of its last reply. Absent in lists.' }),
    response: z.string().optional().meta({ description: 'The final response of the run. Absent in lists.' }),
    result: chatAnswerSchema.optional().meta({ description: 'The answer of the chat endpoints.' }),
    cost: z.number().optional().meta({
      description: 'What its replies and those of its sub-agents cost, if all prices are configured. Absent in lists.',
    }),
    fork: forkedFromSchema.optional().meta({ description: 'Set for a run of a fork. Absent in lists.' }),
    draft: draftSchema.optional().meta({ description: 'Set for a run of a draft. Absent in lists.' }),
    trial: trialSchema.optional().meta({ description: 'Set for a run of a fork or a draft, in lists too.' }),
    cancelRequestedAt: z.int().optional(),
    createdAt: z.int(),
    endedAt: z.int().optional(),
  })
  .meta({ id: 'Run', description: 'A run of an agent.' });

const grantIdSchema = z
  .string()
  .optional()
  .meta({ description: 'The grant that let the call run without waiting for approval.' });

export const callSchema: z.ZodType = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    toolName: z.string(),
    card: messageSchema.optional().meta({ description: 'Absent if no space sees the call.' }),
    step: z.int().optional(),
    index: z.int().optional(),
    status: callStatusSchema.optional(),
    outcome: outcomeSchema.optional(),
    idempotencyKey: z.string().optional(),
    grantId: grantIdSchema,
    attempts: z.int().optional().meta({ description: 'How often its tool ran, if it ran.' }),
    worker: z.string().optional().meta({
      description: 'The worker that runs or ran it: the one that claimed the job, or a worker of the gateway.',
    }),
    createdAt: z.int().optional(),
    settledAt: z.int().optional(),
    pending: waitingCallSchema.optional().meta({
      description:
        'Set if it waits or waited for an answer. With a token: only if no space sees the call and its entity may answer it.',
    }),
  })
  .meta({
    id: 'Call',
    description: 'A call. With a token: only what its card shows, or what entities that may answer it can see.',
  });

export const runEntrySchema: z.ZodType = z
  .strictObject({
    seq: z.int().meta({ description: 'The number within the thread, across its runs.' }),
    kind: z.string(),
    at: z.int(),
    entry: transcriptEntrySchema,
    changes: changesSchema.optional().meta({ description: 'Set on the end of a call that changed something.' }),
    cost: z.number().optional().meta({ description: 'Set on a reply, if the price of its model is configured.' }),
    by: z
      .strictObject({ id: z.string(), name: z.string() })
      .optional()
      .meta({ description: 'Set on the end of a call that waited: who answered it.' }),
    grantId: grantIdSchema,
    status: callStatusSchema.optional().meta({ description: 'Set on the wait of a call: how the call stands now.' }),
    ended: z
      .strictObject({ outcome: outcomeSchema, at: z.int() })
      .optional()
      .meta({ description: 'Set on the wait of a call: how the call ended, perhaps in a later run.' }),
    subAgents: z.array(subAgentTurnSchema).optional().meta({
      description: 'Set on the end of a call that ran a sub-agent: what it did, and the sub-agents that it called.',
    }),
  })
  .meta({ id: 'RunEntry', description: 'An entry of the transcript of a run.' });

export const runCallSchema: z.ZodType = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    toolName: z.string(),
    status: callStatusSchema,
    outcome: outcomeSchema.optional().meta({ description: 'Absent while the call runs.' }),
    grantId: grantIdSchema,
    createdAt: z.int(),
    settledAt: z.int().optional(),
  })
  .meta({ id: 'RunCall', description: 'A call of a run, with its whole output.' });
