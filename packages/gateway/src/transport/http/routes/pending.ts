import type { Answer } from '@lastcall/core';
import { z } from 'zod';
import { invalid } from '../../../domain/entities/invalid.ts';
import { type AnsweredCall, answerCall } from '../../../domain/pending/answer-call.ts';
import { listPending } from '../../../domain/pending/list-pending.ts';
import type { Answerer } from '../../../domain/pending/may-answer.ts';
import type { Caller } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';

const statusSchema = z.enum(['pending', 'resolved', 'expired', 'cancelled']);

const pendingSchema = z
  .strictObject({
    callId: z.string(),
    runId: z.string(),
    agentId: z.string(),
    spaceId: z.string().optional(),
    toolName: z.string(),
    kind: z.enum(['result', 'approval', 'input']),
    input: z.unknown(),
    display: z.unknown().optional(),
    answeredBy: z.unknown().optional(),
    resultSchema: z.unknown().optional(),
    status: statusSchema,
    answer: z.unknown().optional(),
    resolvedBy: z.string().optional(),
    lateAnswers: z.array(z.unknown()).optional(),
    expiresAt: z.int().optional(),
    round: z.int().optional().meta({ description: 'Which question of the call it is, if it waits for input.' }),
    duringCall: z.string().optional().meta({ description: 'The open call that asks.' }),
    createdAt: z.int(),
    resolvedAt: z.int().optional(),
    job: z
      .strictObject({
        claims: z.int(),
        worker: z.string().optional(),
        claimedUntil: z.int().optional(),
      })
      .optional()
      .meta({ description: 'Present if workers may claim the call.' }),
  })
  .meta({ id: 'PendingCall' });

const callId = idField;
const claimToken = z
  .string()
  .max(200)
  .optional()
  .meta({ description: 'From `POST /api/jobs/{callId}/claim`. Needed while a worker has claimed the call.' });
const present = z.unknown().refine((value) => value !== undefined, { error: 'is missing.' });

const round = z.int().min(1).optional().meta({
  description: 'The question that is answered, for a call that may ask again: another one is not answered by mistake.',
});

const answerSchema = z
  .union([
    z.strictObject({ callId, result: present, claimToken, round }),
    z.strictObject({ callId, error: z.string(), claimToken, round }),
    z.strictObject({ callId, approve: z.literal(true), input: z.unknown().optional() }),
    z.strictObject({ callId, deny: z.string() }),
  ])
  .meta({ description: 'Exactly one of `result`, `error`, `approve` and `deny`.' });

export const pendingEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/pending',
    summary: 'List pending calls',
    description: 'With a token: the calls that its entity may answer.',
    access: 'entity',
    query: z.strictObject({
      ...pageFields,
      agentId: idField.optional(),
      status: statusSchema.optional().meta({
        description:
          'Default: `pending`. Other values need a secret key, for example to read answers that came too late.',
      }),
    }),
    answer: pageOf(pendingSchema),
    async handle({ caller, query }, tx) {
      if (caller.kind !== 'entity') return await listPending(tx.db, query);
      if ((query.status ?? 'pending') !== 'pending')
        throw invalid('status', 'must be "pending" or absent: other values need a secret key.');
      return await listPending(tx.db, { ...query, entityId: caller.entityId });
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/runs/{runId}/tool-results',
    summary: 'Answer a pending call',
    description: 'The first answer counts. Sending the same answer again gives the same response.',
    access: 'entity',
    body: answerSchema,
    answer: z.strictObject({ callId: z.string(), duplicate: z.boolean() }),
    refusals: [409, 410],
    async handle({ caller, params, body: { callId, ...given } }, tx, services) {
      const { claimToken, round, ...answer } = given as Answer & Pick<AnsweredCall, 'claimToken' | 'round'>;
      const by = answererOf(caller);
      const answered = { runId: params.runId, callId, answer: answer as Answer, by, claimToken, round };
      return { callId, verdict: await answerCall(services, tx, answered) };
    },
    // A late answer is kept: only after that is durable it is refused.
    respond({ callId, verdict }) {
      if (verdict.status === 'late') throw verdict.error;
      return Response.json({ callId, duplicate: verdict.status === 'duplicate' });
    },
  }),
];

export function answererOf(caller: Caller): Answerer {
  if (caller.kind === 'entity') return { entityId: caller.entityId };
  return { key: true, ...(caller.kind === 'key' ? { keyId: caller.keyId } : {}) };
}
