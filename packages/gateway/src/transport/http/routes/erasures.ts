import { z } from 'zod';
import { getErasure, listErasures } from '../../../domain/erasure/erasure.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { pageFields, pageOf } from '../fields.ts';
import { erasureSchema } from '../schemas/erasure.ts';

export const erasureEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/erasures',
    summary: 'List erasures',
    description: 'Newest first.',
    access: 'admin',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(erasureSchema),
    handle: ({ caller, query }, tx) => listErasures(tx.db, viewOf(caller), query),
  }),
  endpoint({
    method: 'get',
    path: '/api/erasures/{id}',
    summary: 'Get an erasure and its progress',
    access: 'admin',
    answer: erasureSchema,
    handle: ({ caller, params }, tx) => getErasure(tx.db, params.id, viewOf(caller)),
  }),
];
