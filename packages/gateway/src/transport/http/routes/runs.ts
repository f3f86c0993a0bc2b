import { z } from 'zod';
import { requestCancel } from '../../../domain/runs/request-cancel.ts';
import { getRun, listRuns } from '../../../domain/runs/run.ts';
import { getRunCall } from '../../../domain/runs/run-call.ts';
import { runTranscript } from '../../../domain/runs/run-transcript.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';

const statusSchema = z.enum(['running', 'completed', 'failed', 'cancelled']);

const runSchema = z
  .strictObject({
    id: z.string(),
    agentId: z.string(),
    threadId: z.string(),
    cycle: z.int(),
    status: statusSchema,
    trigger: z.unknown(),
    stop: z.unknown().optional(),
    usage: z.unknown().optional(),
    configVersion: z.int(),
    cancelRequestedAt: z.int().optional(),
    createdAt: z.int(),
    endedAt: z.int().optional(),
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
    outcome: z
      .unknown()
      .optional()
      .meta({ description: 'Left out as long as the call has not ended and does not wait.' }),
    createdAt: z.int(),
    settledAt: z.int().optional(),
  })
  .meta({ id: 'RunCall' });

export const runEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/runs',
    summary: 'Cycles of agents, the newest first.',
    access: 'key',
    query: z.strictObject({ ...pageFields, agentId: idField.optional(), status: statusSchema.optional() }),
    answer: pageOf(runSchema),
    handle: ({ query }, tx) => listRuns(tx.db, query),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}',
    summary: 'One of them.',
    access: 'key',
    answer: runSchema,
    handle: ({ params }, tx) => getRun(tx.db, params.id),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/transcript',
    summary: 'Everything that happened in a run, in order.',
    access: 'key',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(runEntrySchema),
    handle: ({ params, query }, tx) => runTranscript(tx.db, params.id, query),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/calls/{callId}',
    summary: 'Get a call of a run, with its whole output, also where that was too large to be shown.',
    access: 'key',
    answer: runCallSchema,
    handle: ({ params }, tx) => getRunCall(tx.db, params.id, params.callId),
  }),
  endpoint({
    method: 'post',
    path: '/api/runs/{id}/cancel',
    summary: 'Asks for the end of a run: model and tools are aborted, and what was open is settled.',
    access: 'key',
    answer: runSchema,
    refusals: [409],
    handle: ({ params }, tx, services) => requestCancel(services, tx, params.id),
  }),
];
