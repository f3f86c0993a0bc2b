import { z } from 'zod';
import { ApiError, isNotFound } from '../../../domain/api-error.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import { deleteSpace } from '../../../domain/erasure/delete-space.ts';
import { projectOf } from '../../../domain/projects/view.ts';
import { assertNotAhead, listMessages } from '../../../domain/spaces/list-messages.ts';
import { markSeen } from '../../../domain/spaces/mark-seen.ts';
import { addMember, listMembers, removeMember, requireMember } from '../../../domain/spaces/membership.ts';
import { isSpaceVisible, postMessage } from '../../../domain/spaces/post-message.ts';
import { createSpace, getSpace, listSpaces } from '../../../domain/spaces/space.ts';
import { withActivity } from '../../../domain/spaces/space-activity.ts';
import { updateSpace } from '../../../domain/spaces/update-space.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { type Caller, limitedTo, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { attachmentsField, idField, metadataField, numberInQuery, ownIdField, pageFields, pageOf } from '../fields.ts';
import { actingFor, onBehalf } from '../on-behalf.ts';
import { erasureSchema } from '../schemas/erasure.ts';
import { messageSchema } from '../schemas/message.ts';
import { spaceSchema } from '../schemas/space.ts';

const memberSchema = z
  .strictObject({
    spaceId: z.string(),
    entityId: z.string(),
    kind: z.enum(['human', 'agent', 'service']),
    displayName: z.string(),
    role: z.string(),
    joinedAt: z.int(),
    activeRunId: z
      .string()
      .optional()
      .meta({ description: 'The run in which an agent is at work here, as in `agent.active`.' }),
    failure: z
      .strictObject({
        runId: z.string(),
        text: z.string(),
        at: z.int(),
        retryAt: z.int().optional().meta({ description: 'Absent if there is no further attempt.' }),
      })
      .optional()
      .meta({
        description:
          'The last failure of an agent here, as in `agent.failed`. Absent once the agent has written here, or its work is done or has been started again.',
      }),
  })
  .meta({ id: 'Member' });

const postedSchema = messageSchema.extend({
  duplicate: z.literal(true).optional(),
  heardBy: z
    .array(z.strictObject({ entityId: z.string(), as: z.enum(['queued', 'paused', 'withheld']) }))
    .meta({ description: 'The other agents of the space, and whether the message reaches them.' }),
});

const memberFields = { entityId: idField, role: z.string().optional() };
const seqInQuery = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional();

export const spaceEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/spaces',
    summary: 'List spaces',
    description: 'With a token: the spaces its entity is a member of.',
    access: 'entity',
    query: z.strictObject({
      ...pageFields,
      entityId: idField.optional(),
      archived: z
        .enum(['exclude', 'include', 'only'])
        .optional()
        .meta({ description: 'Whether archived spaces are listed too, or alone. Default `exclude`.' }),
    }),
    answer: pageOf(spaceSchema),
    async handle({ caller, query }, tx) {
      const entityId = onBehalf(caller, query.entityId);
      const page = await listSpaces(tx.db, { ...query, entityId, view: viewOf(caller) });
      return { ...page, items: await withActivity(tx.db, page.items, actingFor(caller, query.entityId)) };
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/spaces',
    summary: 'Create a space',
    access: 'key',
    body: z.strictObject({
      id: ownIdField,
      name: z.string(),
      description: z.string().optional(),
      metadata: metadataField.optional(),
      members: z.array(z.strictObject(memberFields)).max(200).optional(),
    }),
    status: 201,
    answer: spaceSchema,
    refusals: [404, 409],
    handle: ({ caller, body }, tx) => createSpace(tx, { ...body, project: projectOf(viewOf(caller)) }),
  }),
  endpoint({
    method: 'get',
    path: '/api/spaces/{id}',
    summary: 'Get a space',
    access: 'entity',
    answer: spaceSchema,
    handle({ caller, params }, tx) {
      const read = async () =>
        (await withActivity(tx.db, [await getSpace(tx.db, params.id)], actingFor(caller, undefined)))[0];
      return readAs(caller, tx, { spaceId: params.id, read });
    },
  }),
  endpoint({
    method: 'patch',
    path: '/api/spaces/{id}',
    summary: 'Update the name of a space, or archive it',
    description:
      'What is absent stays as it is. An archived space takes no new messages and wakes no agents. It keeps its messages and members, calls that wait in it can still be answered, and `archived: false` opens it again.',
    access: 'key',
    body: z.strictObject({
      name: z.string().optional(),
      description: z.string().optional(),
      archived: z.boolean().optional(),
    }),
    answer: spaceSchema,
    handle: ({ params, body }, tx) => updateSpace(tx, params.id, body),
  }),
  endpoint({
    method: 'delete',
    path: '/api/spaces/{id}',
    summary: 'Delete a space, and erase its messages',
    description:
      'All members leave it at once. The texts of its messages and copies of them are replaced within about a minute: the response is the erasure, whose progress `GET /api/erasures/{id}` shows. This cannot be undone.',
    access: 'admin',
    status: 202,
    answer: erasureSchema,
    handle: ({ params }, tx) => deleteSpace(tx, params.id),
  }),
  endpoint({
    method: 'get',
    path: '/api/spaces/{id}/members',
    summary: 'List the members of a space',
    access: 'entity',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(memberSchema),
    handle: ({ caller, params: { id: spaceId }, query }, tx) =>
      readAs(caller, tx, { spaceId, read: () => listMembers(tx.db, { ...query, spaceId }) }),
  }),
  endpoint({
    method: 'post',
    path: '/api/spaces/{id}/members',
    summary: 'Add a member, or change its role',
    access: 'key',
    body: z.strictObject(memberFields),
    status: 201,
    answer: memberSchema,
    handle: ({ params, body }, tx) => addMember(tx, { ...body, spaceId: params.id }),
  }),
  endpoint({
    method: 'delete',
    path: '/api/spaces/{id}/members',
    summary: 'Remove a member',
    description: 'Name the entity in the query or in the body. Its streams of this space end.',
    access: 'key',
    query: z.strictObject({ entityId: idField.optional() }),
    body: z.strictObject({ entityId: idField }).optional(),
    answer: z.strictObject({ spaceId: z.string(), entityId: z.string() }),
    async handle({ params, query, body }, tx) {
      const entityId = body?.entityId ?? query.entityId;
      if (entityId === undefined || (query.entityId ?? entityId) !== entityId)
        throw invalid('entityId', 'must be in the query or in the body, and not in both.');
      await removeMember(tx, { spaceId: params.id, entityId });
      return { spaceId: params.id, entityId };
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/spaces/{id}/messages',
    summary: 'List the messages of a space',
    description:
      'In order of `seq`. Without `before` and `after`: the newest page. An `after` that the space has not reached is refused: a backup was restored.',
    access: 'entity',
    query: z.strictObject({ before: seqInQuery, after: seqInQuery, limit: pageFields.limit }),
    answer: z.strictObject({ items: z.array(messageSchema), hasMore: z.boolean() }),
    async handle({ caller, params: { id: spaceId }, query }, tx) {
      const page = await readAs(caller, tx, { spaceId, read: () => listMessages(tx.db, { ...query, spaceId }) });
      if (page.items.length === 0) await assertNotAhead(tx.db, { ...query, spaceId });
      return page;
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/spaces/{id}/messages',
    summary: 'Post a message',
    description: 'With a token or a session: as its entity. With a secret key: on behalf of `entityId`.',
    access: 'entity',
    body: z.strictObject({
      text: z.string(),
      entityId: idField.optional().meta({ description: 'Who posts the message. Required with a secret key.' }),
      replyTo: idField.optional(),
      clientMessageId: z
        .string()
        .optional()
        .meta({ description: 'A message with the same id by the same sender is posted once.' }),
      metadata: metadataField.optional(),
      attachments: attachmentsField.optional(),
    }),
    status: 201,
    answer: postedSchema,
    refusals: [409, 429],
    // It locks only the space, so posts to other spaces can run at the same time.
    group: ({ id }) => ({ kind: 'post', keys: [id], turn: id }),
    async handle({ caller, params, body }, tx, services) {
      const entityId = actingFor(caller, body.entityId);
      if (entityId === undefined)
        throw invalid('entityId', 'is required with a secret key: it says who posts the message.');
      const said = { ...body, entityId, spaceId: params.id, view: viewOf(caller) };
      const { message, duplicate, heardBy } = await postMessage(services, tx, said).catch((error: unknown) =>
        explainAbsence(error, tx, caller, said),
      );
      return { ...message, ...(duplicate ? { duplicate } : {}), heardBy };
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/spaces/{id}/seen',
    summary: 'Update which messages a member has seen',
    description: 'Up to `seq`. It never goes back. With a secret key: on behalf of `entityId`.',
    access: 'entity',
    body: z.strictObject({ seq: z.int().min(0), entityId: idField.optional() }),
    answer: z.strictObject({ spaceId: z.string(), entityId: z.string(), seq: z.int() }),
    // It says what a person has read, and is sent all the time.
    audit: 'none',
    async handle({ caller, params, body }, tx) {
      const entityId = actingFor(caller, body.entityId);
      if (entityId === undefined) throw invalid('entityId', 'is required with a secret key: it says who saw them.');
      return await markSeen(tx, { spaceId: params.id, entityId, seq: body.seq });
    },
  }),
];

/** A key may see every space, so the error says that the entity is not a member. */
async function explainAbsence(
  error: unknown,
  tx: Tx,
  caller: Caller,
  { spaceId, entityId }: { readonly spaceId: string; readonly entityId: string },
): Promise<never> {
  if (limitedTo(caller) !== undefined || !isNotFound(error)) throw error;
  const space = await getSpace(tx.db, spaceId);
  if (!isSpaceVisible(space, viewOf(caller))) throw error;
  throw new ApiError('not_found', `"${entityId}" is not a member of this space.`, {
    details: { path: 'entityId' },
  });
}

/**
 * Reads something of a space for a caller who may see it. Membership is checked after the read: then the caller was still a
 * member when the data was read. If it were checked first, the caller could be removed in between and read newer messages.
 */
async function readAs<T>(
  caller: Caller,
  tx: Tx,
  { spaceId, read }: { readonly spaceId: string; readonly read: () => Promise<T> },
): Promise<T> {
  const found = await read();
  await assertMaySee(tx, spaceId, caller);
  return found;
}

/** Throws "not found" for callers who are not members, so that they cannot tell that the space exists. */
export async function assertMaySee(tx: Pick<Tx, 'db'>, spaceId: string, caller: Caller): Promise<void> {
  const entityId = limitedTo(caller);
  if (entityId !== undefined) await requireMember(tx.db, spaceId, entityId);
  else await getSpace(tx.db, spaceId);
}
