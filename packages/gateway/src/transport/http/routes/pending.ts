import type { Answer } from '@lastcall/core';
import { z } from 'zod';
import { ApiError } from '../../../domain/api-error.ts';
import { type AnswerEnd, type AnsweredCall, answerCall } from '../../../domain/calls/answer-call.ts';
import { listWaiting } from '../../../domain/calls/list-waiting.ts';
import type { Answerer } from '../../../domain/calls/may-answer.ts';
import { type Caller, limitedTo, viewOf } from '../../caller.ts';
import { type AuditedChange, type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageOf, positionFields } from '../fields.ts';
import { onBehalf } from '../on-behalf.ts';
import { grantRequestSchema } from '../schemas/answer.ts';
import { waitingCallSchema, waitStatusSchema } from '../schemas/pending-call.ts';
import { statusOf } from '../statuses.ts';

const callId = idField;
const claimToken = z
  .string()
  .max(200)
  .optional()
  .meta({ description: 'From `POST /api/jobs/{callId}/claim`. Needed while a worker has claimed the call.' });
const present = z.unknown().refine((value) => value !== undefined, { error: 'is missing.', abort: true });

const round = z.int().min(1).optional().meta({
  description:
    'The number of the question, for a call that may ask again. It prevents answering another question by mistake.',
});

const runForReal = z.string().max(200).optional().meta({
  description: 'Needed for a call of a fork: the name of its tool, which then runs for real.',
});

const answerSchema = z
  .union(
    [
      z.strictObject({ callId, result: present, claimToken, round }),
      z.strictObject({ callId, error: z.string(), claimToken, round }),
      z.strictObject({
        callId,
        approve: z.literal(true),
        input: z.unknown().optional(),
        grant: grantRequestSchema.optional(),
        runForReal,
      }),
      z.strictObject({ callId, deny: z.string() }),
    ],
    {
      error:
        'must be one of { callId, result }, { callId, error }, { callId, approve: true, input? } and { callId, deny }.',
    },
  )
  .meta({ description: 'Exactly one of `result`, `error`, `approve` and `deny`.' });

export const waitingCallEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/pending',
    summary: 'List waiting calls, soonest expiry first',
    description:
      'With a token: the calls that its entity may answer. Calls of another `status` are listed from the newest end of waiting.',
    access: 'entity',
    query: z.strictObject({
      ...positionFields,
      entityId: idField
        .optional()
        .meta({ description: 'Only calls that this entity may answer. With a token: its own entity.' }),
      agentId: idField.optional(),
      spaceId: idField.optional(),
      status: waitStatusSchema.optional().meta({
        description:
          'Default: `pending`. With a token: of the calls that its entity may answer, or could have answered. Calls that no longer wait are listed in the order of their end, newest first.',
      }),
    }),
    answer: pageOf(waitingCallSchema),
    async handle({ caller, query }, tx) {
      const entityId = onBehalf(caller, query.entityId);
      return await listWaiting(tx.db, { ...query, entityId, view: viewOf(caller) });
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/runs/{runId}/tool-results',
    summary: 'Answer a waiting call',
    description: 'The first answer counts. Sending the same answer again gives the same response.',
    access: 'entity',
    body: answerSchema,
    answer: z.strictObject({
      callId: z.string(),
      duplicate: z.boolean(),
      runId: z.string().meta({
        description: 'The run that continues with the answer. It is `queued` until the agent takes the answer.',
      }),
      grantId: z.string().optional().meta({ description: 'The grant that was given with the approval.' }),
    }),
    refusals: [409, 410],
    audit: auditAnswer,
    async handle({ caller, params, body: { callId, ...given } }, tx) {
      const { claimToken, round, grant, ...answer } = given as Answer & Given;
      if (grant !== undefined && caller.kind === 'entity' && caller.callId !== undefined)
        throw new ApiError('forbidden', 'This token is for one card. Sign in to allow later calls too.');
      const by = answererOf(caller);
      const answered = { runId: params.runId, callId, answer: answer as Answer, by, claimToken, round, grant };
      return { callId, result: await answerCall(tx, answered), isForReal: 'runForReal' in given };
    },
    // A late answer is stored, and refused only after that is durable.
    respond({ callId, result }) {
      if (result.status === 'late') throw result.error;
      const { runId, grantId } = result;
      return Response.json({ callId, duplicate: result.status === 'duplicate', runId, grantId });
    },
  }),
];

interface GivenAnswer {
  readonly callId: string;
  readonly result: AnswerEnd;
  /** True if a call of a fork acts outside because of it. */
  readonly isForReal: boolean;
}

type Given = Pick<AnsweredCall, 'claimToken' | 'round' | 'grant'>;

/** A grant is a separate change, and has its own entry. */
function auditAnswer({ callId, result, isForReal }: GivenAnswer): AuditedChange[] {
  if (result.status === 'duplicate') return [];
  const granted: AuditedChange[] =
    result.status === 'resolved' && result.grantId !== undefined
      ? [{ subject: { kind: 'grant', id: result.grantId } }]
      : [];
  const answered: AuditedChange = {
    ...(isForReal && result.status === 'resolved' ? { action: 'run_for_real' } : {}),
    subject: { kind: 'call', id: callId },
    status: result.status === 'late' ? statusOf(result.error) : 200,
  };
  return [answered, ...granted];
}

export function answererOf(caller: Caller): Answerer {
  const entityId = limitedTo(caller);
  if (entityId !== undefined) return { entityId };
  if (caller.kind === 'session')
    return { key: true, keyId: caller.keyId ?? caller.sessionId, entityId: caller.entityId };
  return { key: true, ...(caller.kind === 'key' ? { keyId: caller.keyId } : {}) };
}
