import { z } from 'zod';
import { agentConfigSchema } from '../../../config/agent-config.ts';
import { findAgent, getAgent, listAgents } from '../../../domain/agents/agent.ts';
import type { IsKnownTool } from '../../../domain/agents/check-agent-config.ts';
import { createAgent } from '../../../domain/agents/create-agent.ts';
import { deleteAgent } from '../../../domain/agents/delete-agent.ts';
import { pauseAgent, resumeAgent } from '../../../domain/agents/pause-agent.ts';
import { updateAgent } from '../../../domain/agents/update-agent.ts';
import { listInbox } from '../../../domain/inbox/list-inbox.ts';
import { pushServiceEvent } from '../../../domain/inbox/push-service-event.ts';
import { redrive } from '../../../domain/inbox/redrive.ts';
import { assertKnownCommands, type IsKnownCommand } from '../../../domain/mcp/assert-known-commands.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, metadataField, OWN_ID_JSON, ownIdField, pageFields, pageOf } from '../fields.ts';

const statusSchema = z.enum(['active', 'paused', 'invalid', 'deleted']);

const agentSchema = z
  .strictObject({
    id: z.string(),
    entityId: z.string(),
    name: z.string(),
    status: statusSchema,
    config: z.record(z.string(), z.unknown()),
    configVersion: z.int(),
    activeSpaceId: z.string().optional(),
    lastError: z.unknown().optional(),
    createdAt: z.int(),
    updatedAt: z.int(),
  })
  .meta({ id: 'Agent' });

const inboxStatusSchema = z.enum(['pending', 'claimed', 'done', 'dead', 'withheld']);

const inboxItemSchema = z
  .strictObject({
    eventId: z.string(),
    agentId: z.string(),
    type: z.enum(['space_message', 'tool_result', 'plan', 'service', 'chat']),
    status: inboxStatusSchema,
    priority: z.int(),
    attempts: z.int(),
    event: z.unknown(),
    availableAt: z.int(),
    runId: z.string().optional(),
    error: z.unknown().optional(),
    createdAt: z.int(),
  })
  .meta({ id: 'InboxItem' });

/** The configuration's own schema is applied where agents are made, for every way in; here it is shown. */
const configJsonSchema = z.toJSONSchema(agentConfigSchema, { io: 'input', unrepresentable: 'any' });
const spaceIds = z.array(idField).max(200).optional();

const newAgentSchema = z.looseObject({ id: ownIdField, spaceIds, metadata: metadataField.optional() }).meta({
  description: "The agent's configuration, and the spaces it joins at once.",
  properties: {
    ...configJsonSchema.properties,
    id: OWN_ID_JSON,
    spaceIds: { type: 'array', items: { type: 'string' }, maxItems: 200 },
    metadata: { type: 'object', additionalProperties: {} },
  },
  required: configJsonSchema.required,
  additionalProperties: false,
});

const agentUpdateSchema = z.record(z.string(), z.unknown()).meta({
  description: 'The configuration fields to change. `null` removes a field.',
  properties: configJsonSchema.properties,
});

/**
 * `isKnownTool`: whether a tool that a configuration names is there. Default: the cycle finds out. `isKnownCommand`: whether
 * an MCP server may be started. Default: none.
 */
export function agentEndpoints(
  isKnownTool?: IsKnownTool,
  isKnownCommand: IsKnownCommand = () => false,
): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/agents',
      summary: 'List agents',
      access: 'key',
      query: z.strictObject({ ...pageFields, status: statusSchema.optional() }),
      answer: pageOf(agentSchema),
      handle: ({ query }, tx) => listAgents(tx.db, query),
    }),
    endpoint({
      method: 'post',
      path: '/api/agents',
      summary: 'Create an agent',
      access: 'key',
      body: newAgentSchema,
      status: 201,
      answer: agentSchema,
      refusals: [404, 409],
      handle({ body: { id, spaceIds, metadata, ...config } }, tx, services) {
        assertKnownCommands(config, isKnownCommand);
        return createAgent(services, tx, { id, config, spaceIds, metadata, isKnownTool });
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}',
      summary: 'Get an agent',
      access: 'key',
      answer: agentSchema,
      handle: ({ params }, tx) => getAgent(tx.db, params.id),
    }),
    endpoint({
      method: 'patch',
      path: '/api/agents/{id}',
      summary: 'Update an agent',
      description: 'The change applies from the next cycle on. A configuration that cannot work is refused as a whole.',
      access: 'key',
      body: agentUpdateSchema,
      answer: agentSchema,
      handle({ params, body }, tx, services) {
        assertKnownCommands(body, isKnownCommand);
        return updateAgent(services, tx, { agentId: params.id, config: body, isKnownTool });
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/agents/{id}',
      summary: 'Delete an agent',
      description: 'Its pending calls and its running cycle are cancelled. Its messages, runs and transcript are kept.',
      access: 'key',
      answer: z.strictObject({ id: z.string(), status: z.literal('deleted') }),
      async handle({ params }, tx, services) {
        await deleteAgent(services, tx, params.id);
        return { id: params.id, status: 'deleted' };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/pause',
      summary: 'Pause an agent',
      description: 'The running cycle finishes and no other starts. Events wait in the inbox.',
      access: 'key',
      answer: agentSchema,
      handle: ({ params }, tx, services) => pauseAgent(services, tx, params.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/resume',
      summary: 'Resume a paused agent',
      access: 'key',
      answer: agentSchema,
      handle: ({ params }, tx, services) => resumeAgent(services, tx, params.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/events',
      summary: 'Send an event to an agent',
      description: 'An `eventId` is delivered once: sending it again changes nothing.',
      access: 'key',
      body: z.strictObject({
        source: z.string(),
        name: z.string(),
        data: z.unknown().optional(),
        eventId: z.string().optional(),
      }),
      status: 201,
      answer: z.strictObject({ eventId: z.string(), duplicate: z.boolean() }),
      refusals: [429],
      handle: ({ params, body }, tx, services) => pushServiceEvent(services, tx, { ...body, agentId: params.id }),
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/inbox',
      summary: "List the events in an agent's inbox, newest first",
      access: 'key',
      query: z.strictObject({ ...pageFields, status: inboxStatusSchema.optional() }),
      answer: pageOf(inboxItemSchema),
      async handle({ params, query }, tx) {
        await findAgent(tx.db, params.id);
        return await listInbox(tx.db, { ...query, agentId: params.id });
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/inbox/redrive',
      summary: 'Redrive dead and withheld events',
      description: 'Puts the events in `eventIds` back into the inbox, or all of them without `eventIds`.',
      access: 'key',
      body: z.strictObject({ eventIds: z.array(idField).max(1_000).optional() }).optional(),
      answer: z.strictObject({ eventIds: z.array(z.string()) }),
      async handle({ params, body }, tx, services) {
        return { eventIds: await redrive(services, tx, { agentId: params.id, eventIds: body?.eventIds }) };
      },
    }),
  ];
}
