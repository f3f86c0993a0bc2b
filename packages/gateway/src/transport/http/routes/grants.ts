import { z } from 'zod';
import { answererId } from '../../../domain/calls/may-answer.ts';
import type { Grant } from '../../../domain/grants/grant.ts';
import { getGrant, listGrants, revokeGrant } from '../../../domain/grants/list-grants.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { type Caller, limitedTo, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';
import { conditionsSchema, grantLengthSchema } from '../schemas/answer.ts';
import { answererOf } from './pending.ts';

const grantSchema = z
  .strictObject({
    id: z.string(),
    agentId: z.string(),
    toolName: z.string(),
    for: grantLengthSchema,
    conditions: conditionsSchema,
    reach: z.enum(['agent', 'thread']).meta({
      description:
        '`agent`: all calls of the agent. `thread`: only those in the same space or conversation as the call that was approved.',
    }),
    callId: z.string().meta({ description: 'The call that was approved with it.' }),
    runId: z.string(),
    spaceId: z.string().optional(),
    grantedBy: z.string(),
    grantedByName: z.string().optional(),
    createdAt: z.int(),
    expiresAt: z.int().optional(),
    status: z.enum(['active', 'ended']),
    endedAt: z.int().optional(),
    endReason: z.enum(['revoked', 'expired', 'run_ended', 'tool_changed', 'tool_deleted', 'agent_deleted']).optional(),
    endedBy: z.string().optional(),
    uses: z.int().meta({ description: 'How many calls ran because of it.' }),
    lastUsedAt: z.int().optional(),
  })
  .meta({ id: 'Grant', description: 'Approval of later calls, which was given with the approval of one call.' });

const OWN = 'With a token: only those that its entity gave.';
const REVOKE = `It is in effect at once, on all gateways: the next call waits for approval again. ${OWN}`;

/** What was approved in advance. Grants are given with an answer: see pending.ts. */
export const grantEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/grants',
    summary: 'List grants, newest first',
    description: OWN,
    access: 'entity',
    query: z.strictObject({
      ...pageFields,
      agentId: idField.optional(),
      toolName: z.string().min(1).max(200).optional(),
      status: z.enum(['active', 'ended']).optional().meta({ description: 'Default: both.' }),
    }),
    answer: pageOf(grantSchema),
    handle: ({ caller, query }, tx) => listGrants(tx, { ...query, entityId: limitedTo(caller), view: viewOf(caller) }),
  }),
  endpoint({
    method: 'get',
    path: '/api/grants/{id}',
    summary: 'Get a grant',
    description: OWN,
    access: 'entity',
    answer: grantSchema,
    handle: ({ caller, params: { id } }, tx) => getGrant(tx, id, { entityId: limitedTo(caller), view: viewOf(caller) }),
  }),
  endpoint({
    method: 'delete',
    path: '/api/grants/{id}',
    summary: 'Revoke a grant',
    description: REVOKE,
    access: 'entity',
    answer: grantSchema,
    handle: ({ caller, params: { id } }, tx) => revoke(tx, caller, id),
  }),
  endpoint({
    method: 'delete',
    path: '/api/grants',
    summary: 'Revoke the grant with the id in the query',
    description: REVOKE,
    access: 'entity',
    query: z.strictObject({ id: idField }),
    answer: grantSchema,
    audit: (_, { query }) => ({ subject: { kind: 'grant', id: (query as { readonly id: string }).id } }),
    handle: ({ caller, query: { id } }, tx) => revoke(tx, caller, id),
  }),
];

function revoke(tx: Tx, caller: Caller, id: string): Promise<Grant> {
  return revokeGrant(tx, id, {
    by: answererId(answererOf(caller)),
    entityId: limitedTo(caller),
    view: viewOf(caller),
  });
}
