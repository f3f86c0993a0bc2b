import { z } from 'zod';
import { findAnswer } from '../../../domain/contexts/run-answer.ts';
import { requestCancel } from '../../../domain/runs/request-cancel.ts';
import { getRun, listRuns } from '../../../domain/runs/run.ts';
import { getRunCall } from '../../../domain/runs/run-call.ts';
import { runTranscript } from '../../../domain/runs/run-transcript.ts';
import { chatAnswerSchema, toChatAnswer } from '../chat-answer.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';

const statusSchema = z.enum(['running', 'completed', 'failed', 'cancelled']);
const shownStatusSchema = z.enum([...statusSchema.options, 'queued']);

const runSchema = z
  .strictObject({
    id: z.string(),
    agentId: z.string(),
    threadId: z.string(),
    cycle: z.int(),
    status: shownStatusSchema,
    trigger: z.unknown(),
    stop: z.unknown().optional(),
    usage: z.unknown().optional(),
    configVersion: z.int(),
    cancelRequestedAt: z.int().optional(),
    createdAt: z.int(),
    endedAt: z.int().optional(),
    result: chatAnswerSchema.optional().meta({ description: 'What the chat endpoints answered, or would have.' }),
  })
  .meta({ id: 'Run' });

const runEntrySchema = z
  .strictObject({ seq: z.int(), kind: z.string(), at: z.int(), entry: z.unknown() })
  .meta({ id: 'RunEntry' });

const runCallSchema = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    toolName: z.string(),
    status: z.enum(['planned', 'started', 'settled', 'pending']),
    outcome: z.unknown().optional().meta({ description: 'Absent while the call runs.' }),
    createdAt: z.int(),
    settledAt: z.int().optional(),
  })
  .meta({ id: 'RunCall' });

export const runEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/runs',
    summary: 'List runs, newest first',
    description: 'A run is one cycle of an agent.',
    access: 'key',
    query: z.strictObject({ ...pageFields, agentId: idField.optional(), status: statusSchema.optional() }),
    answer: pageOf(runSchema),
    handle: ({ query }, tx) => listRuns(tx.db, query),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}',
    summary: 'Get a run',
    access: 'key',
    answer: runSchema,
    async handle({ params }, tx) {
      const run = await getRun(tx.db, params.id);
      // Runs of agents' own threads answer nobody.
      const answer = run.threadId === run.agentId ? undefined : await findAnswer(tx.db, run.id);
      return answer === undefined ? run : { ...run, result: toChatAnswer(answer) };
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/transcript',
    summary: 'Get the transcript of a run',
    description: 'Everything that happened in it, in order.',
    access: 'key',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(runEntrySchema),
    handle: ({ params, query }, tx) => runTranscript(tx.db, params.id, query),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/calls/{callId}',
    summary: 'Get a call of a run',
    description: 'With its whole output, even if that was cut for the model.',
    access: 'key',
    answer: runCallSchema,
    handle: ({ params }, tx) => getRunCall(tx.db, params.id, params.callId),
  }),
  endpoint({
    method: 'post',
    path: '/api/runs/{id}/cancel',
    summary: 'Cancel a run',
    description: 'Aborts its model request and its tools, and settles its open calls.',
    access: 'key',
    answer: runSchema,
    refusals: [409],
    handle: ({ params }, tx, services) => requestCancel(services, tx, params.id),
  }),
];
