import { z } from 'zod';
import { claimJob } from '../../../domain/calls/claim-job.ts';
import { keepClaim } from '../../../domain/calls/keep-claim.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { jsonSchemaSchema } from '../schemas/json-schema.ts';
import { answererOf } from './pending.ts';

const claimSchema = z.strictObject({
  worker: z.string().min(1).max(200).meta({ description: 'Your own name for the worker. Operators see it.' }),
  leaseMs: z.int().min(100).max(3_600_000).optional().meta({
    description: 'How long the claim lasts after each heartbeat, in milliseconds. Default 30,000.',
  }),
});

const claimedSchema = z
  .strictObject({
    claimToken: z.string(),
    claimedUntil: z.int(),
    attempt: z.int().meta({ description: '1 for the first worker that claims the job.' }),
    callId: z.string(),
    runId: z.string(),
    agentId: z.string(),
    toolName: z.string(),
    input: z.unknown().optional(),
    resultSchema: jsonSchemaSchema.optional(),
    expiresAt: z.int().optional(),
  })
  .meta({ id: 'ClaimedJob' });

const heartbeatSchema = z.strictObject({
  claimToken: z.string().max(200),
  progress: z.unknown().optional().meta({ description: 'Any JSON up to 16,000 bytes. Readers of the streams see it.' }),
});

export const jobEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/jobs/{callId}/claim',
    summary: 'Claim a job',
    description: 'Only one worker can hold a job. A claim without heartbeats lapses, and the job is offered again.',
    access: 'entity',
    body: claimSchema,
    answer: claimedSchema,
    refusals: [409, 410],
    async handle({ caller, params: { callId }, body }, tx) {
      return await claimJob(tx, { ...body, callId, by: answererOf(caller) });
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/jobs/{callId}/heartbeat',
    summary: 'Keep the claim of a job',
    description: 'A 409 or 410 means that your result is no longer needed.',
    access: 'entity',
    body: heartbeatSchema,
    answer: z.strictObject({ callId: z.string(), claimedUntil: z.int() }),
    // The claim has an entry. It is kept with many of these.
    audit: 'none',
    refusals: [409, 410, 413],
    async handle({ caller, params: { callId }, body }, tx) {
      return await keepClaim(tx, { ...body, callId, by: answererOf(caller) });
    },
  }),
];
