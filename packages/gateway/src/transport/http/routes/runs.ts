import { z } from 'zod';
import { requestCancel } from '../../../domain/runs/request-cancel.ts';
import { getRun, listRuns } from '../../../domain/runs/run.ts';
import { getRunCall } from '../../../domain/runs/run-call.ts';
import { runTranscript } from '../../../domain/runs/run-transcript.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';
import { runCallSchema, runEntrySchema, runSchema, runStatusSchema } from '../schemas/run.ts';

export const runEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/runs',
    summary: 'List runs, newest first',
    description: 'A run is one cycle of an agent.',
    access: 'key',
    query: z.strictObject({ ...pageFields, agentId: idField.optional(), status: runStatusSchema.optional() }),
    answer: pageOf(runSchema),
    handle: ({ query }, tx) => listRuns(tx.db, query),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}',
    summary: 'Get a run',
    access: 'key',
    answer: runSchema,
    handle: ({ params }, tx) => getRun(tx.db, params.id),
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
