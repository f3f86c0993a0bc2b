import { z } from 'zod';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { createKey, listKeys, revokeKey } from '../../../domain/keys/api-key.ts';
import { SCOPES } from '../../../domain/keys/scope.ts';
import { type Caller, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';
import { PROJECT_RULES } from '../project-rules.ts';

const scopesSchema = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);

const limitFields = {
  agents: z.array(idField).max(200).optional().meta({
    description: 'The agents that it may use, by id or name. All other agents and spaces do not exist for it.',
  }),
  spaces: z.array(idField).max(200).optional().meta({
    description: 'The ids of the spaces that it may use. All other spaces and agents do not exist for it.',
  }),
  paths: z
    .array(
      z.string().refine((path) => Object.hasOwn(PROJECT_RULES, path), {
        error: 'must be an operation of the API as /openapi.json writes it, like "POST /chat" or "GET /api/runs/{id}".',
      }),
    )
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'The operations that it may use, as this document writes them, e.g. `POST /chat`.' }),
  rate: z
    .strictObject({ requests: z.int().min(1).max(1_000_000), seconds: z.int().min(1).max(86_400) })
    .optional()
    .meta({ description: 'At most so many requests in any period of so many seconds. More get 429.' }),
};

const keySchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: scopesSchema,
    project: z.string().optional().meta({ description: 'The project that it sees. Absent: all of them.' }),
    ...limitFields,
    prefix: z.string(),
    createdAt: z.int(),
    expiresAt: z.int().optional(),
    revokedAt: z.int().optional(),
  })
  .meta({ id: 'Key' });

export const keyEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/keys',
    summary: 'List secret keys',
    description: 'Their secrets are not included.',
    access: 'admin',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(keySchema),
    handle: ({ caller, query }, tx) => listKeys(tx.db, { ...query, view: viewOf(caller) }),
  }),
  endpoint({
    method: 'post',
    path: '/api/keys',
    summary: 'Create a secret key',
    description: 'The key is only shown in this response.',
    access: 'admin',
    body: z.strictObject({
      name: z.string(),
      scopes: scopesSchema,
      project: idField.optional().meta({
        description:
          'The project that it sees. Default: your own. With a key of all projects: all of them for scope `admin`, otherwise `default`.',
      }),
      ...limitFields,
      expiresAt: z.int().optional().meta({ description: 'When it stops working, in milliseconds since the epoch.' }),
    }),
    status: 201,
    answer: z.strictObject({ id: z.string(), key: z.string() }),
    handle: ({ caller, body }, tx) => createKey(tx, { ...body, project: projectOfKey(caller, body.project) }),
  }),
  endpoint({
    method: 'delete',
    path: '/api/keys/{id}',
    summary: 'Revoke a secret key',
    description: 'It stops working at once, and streams opened with it end.',
    access: 'admin',
    answer: keySchema,
    handle: ({ params }, tx) => revokeKey(tx, params.id),
  }),
];

/** A key cannot create one that may do more than itself. */
function projectOfKey(caller: Caller, wanted: string | undefined): string | undefined {
  const { project: own } = viewOf(caller);
  const { paths, rate } = 'view' in caller ? caller : {};
  const expires = caller.kind === 'session' ? caller.hasExpiringKey : 'expiresAt' in caller;
  if (paths !== undefined || rate !== undefined || expires)
    throw new ApiError('forbidden', 'A key with limits cannot create keys.');
  if (own !== undefined && wanted !== undefined && wanted !== own) throw notFound('project', wanted);
  return wanted ?? own;
}
