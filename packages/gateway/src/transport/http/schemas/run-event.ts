import { z } from 'zod';
import { changesSchema } from './changes.ts';
import { outcomeSchema } from './outcome.ts';
import { stopSchema } from './stop.ts';
import { resetEventSchema, streamEvent } from './stream-event.ts';
import { usageSchema } from './usage.ts';

const runId = z.string();
const callId = z.string();
const toolName = z.string();
const input = z.unknown().optional();
const step = z.int();

/** Another worker continued the run. */
export const takeoverFields: {
  afterSeq: z.ZodInt;
  from: z.ZodOptional<z.ZodString>;
  to: z.ZodOptional<z.ZodString>;
  silentMs: z.ZodInt;
} = {
  afterSeq: z.int().meta({ description: 'The last entry of the transcript before it.' }),
  from: z.string().optional(),
  to: z.string().optional(),
  silentMs: z.int().meta({ description: 'How long nothing had been written before the takeover.' }),
};

/** Every event of the stream of a run. */
export const runEventSchema: z.ZodType = z
  .union([
    streamEvent('run.start', { runId, agentId: z.string() }),
    // A second `step.start` with the same step discards the text of that step so far.
    streamEvent('step.start', { step, attempt: z.int() }),
    streamEvent(['text.delta', 'reasoning.delta'], { step, delta: z.string() }),
    streamEvent('tool-input-start', { callId, toolName }),
    streamEvent('tool-input-delta', { callId, delta: z.string() }),
    streamEvent('tool-call.start', { callId, toolName, input }),
    streamEvent('tool-call.progress', { callId, value: z.unknown().optional() }),
    streamEvent('nudge', { step, text: z.string() }),
    streamEvent('rewind', { step, reason: z.string(), guidance: z.string() }),
    streamEvent('step.end', { step, usage: usageSchema }),
    streamEvent(
      ['tool-call.complete', 'tool-call.error', 'tool-call.cancelled', 'tool-call.skipped', 'tool-call.pending'],
      { callId, toolName, input, outcome: outcomeSchema, changes: changesSchema.optional() },
    ),
    // The answer to a call that waited. It may come after `run.end`, as may the end of such a call.
    streamEvent('tool-call.answered', {
      callId,
      toolName,
      decision: z.enum(['result', 'error', 'approve', 'deny']),
      by: z.strictObject({ id: z.string(), name: z.string() }),
      at: z.int(),
    }),
    streamEvent('run.taken', { runId, ...takeoverFields }),
    streamEvent('run.cancelling', { runId }),
    streamEvent('run.end', {
      runId,
      status: z.enum(['completed', 'waiting', 'failed', 'cancelled']),
      stop: stopSchema,
    }),
    resetEventSchema,
  ])
  .meta({ id: 'RunEvent', description: "An event of a run's stream." });
