import { z } from 'zod';
import { createKey, listKeys, revokeKey } from '../../../domain/keys/api-key.ts';
import { SCOPES } from '../../../domain/keys/scope.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { pageFields, pageOf } from '../fields.ts';

const scopesSchema = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);

const keySchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: scopesSchema,
    prefix: z.string(),
    createdAt: z.int(),
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
    handle: ({ query }, tx) => listKeys(tx.db, query),
  }),
  endpoint({
    method: 'post',
    path: '/api/keys',
    summary: 'Create a secret key',
    description: 'The key is only shown in this response.',
    access: 'admin',
    body: z.strictObject({ name: z.string(), scopes: scopesSchema }),
    status: 201,
    answer: z.strictObject({ id: z.string(), key: z.string() }),
    handle: ({ body }, tx) => createKey(tx, body),
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
