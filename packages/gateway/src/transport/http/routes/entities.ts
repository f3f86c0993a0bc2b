import { z } from 'zod';
import { notFound } from '../../../domain/api-error.ts';
import { createEntity, getEntity, listEntities } from '../../../domain/entities/entity.ts';
import { deletePerson } from '../../../domain/erasure/delete-person.ts';
import { signToken } from '../../../domain/keys/tokens.ts';
import { projectOf } from '../../../domain/projects/view.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, metadataField, pageFields, pageOf, projectField } from '../fields.ts';
import { erasureSchema } from '../schemas/erasure.ts';

const entitySchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['human', 'agent', 'service']),
    project: projectField,
    externalId: z.string().optional(),
    displayName: z.string(),
    metadata: metadataField,
    createdAt: z.int(),
    deletedAt: z.int().optional(),
  })
  .meta({ id: 'Entity' });

export function entityEndpoints(tokenSecret: Uint8Array): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/entities',
      summary: 'List entities',
      access: 'key',
      query: z.strictObject({
        ...pageFields,
        kind: z.enum(['human', 'agent', 'service']).optional(),
        externalId: idField.optional(),
      }),
      answer: pageOf(entitySchema),
      handle: ({ caller, query }, tx) => listEntities(tx.db, { ...query, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/entities',
      summary: 'Create a person or a service',
      description: 'If an entity of this kind with this `externalId` exists, it is returned instead.',
      access: 'key',
      body: z.strictObject({
        kind: z.enum(['human', 'service']),
        displayName: z.string(),
        externalId: z.string().optional(),
        metadata: metadataField.optional(),
      }),
      status: 201,
      answer: entitySchema,
      refusals: [409],
      handle: ({ caller, body }, tx) => createEntity(tx, { ...body, project: projectOf(viewOf(caller)) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/entities/{id}',
      summary: 'Get an entity',
      access: 'key',
      answer: entitySchema,
      handle: ({ params }, tx) => getEntity(tx.db, params.id),
    }),
    endpoint({
      method: 'delete',
      path: '/api/entities/{id}',
      summary: 'Delete a person or a service, and erase what they wrote',
      description:
        'They leave their spaces and are signed out at once. Their texts and copies of them are replaced within about a minute: the response is the erasure, whose progress `GET /api/erasures/{id}` shows. This cannot be undone.',
      access: 'admin',
      status: 202,
      answer: erasureSchema,
      handle: ({ params }, tx) => deletePerson(tx, params.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/entities/{id}/token',
      summary: 'Create a token for an entity',
      description:
        'With it the entity acts for itself. It is valid for one hour by default and for one day at most, and no longer than the key or session that creates it.',
      access: 'key',
      body: z.strictObject({ expiresInSeconds: z.int().min(1).max(86_400).optional() }).optional(),
      status: 201,
      answer: z.strictObject({ token: z.string(), entityId: z.string(), expiresAt: z.int() }),
      async handle({ caller, params, body }, tx) {
        const entity = await getEntity(tx.db, params.id);
        if (entity.deletedAt !== undefined) throw notFound('entity', params.id);
        const until = 'expiresAt' in caller ? caller.expiresAt : undefined;
        return { entityId: entity.id, expiresInSeconds: body?.expiresInSeconds, until };
      },
      async respond({ entityId, ...validity }) {
        const token = await signToken(tokenSecret, { entityId, ...validity });
        return Response.json({ ...token, entityId }, { status: 201 });
      },
    }),
  ];
}
