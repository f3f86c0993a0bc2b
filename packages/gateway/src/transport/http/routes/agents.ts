import { z } from 'zod';
import type { Offered } from '../../../config/known-tool.ts';
import { findAgent, getAgent, listAgents } from '../../../domain/agents/agent.ts';
import { describeAgent, describeAgents } from '../../../domain/agents/agent-details.ts';
import { listVersions } from '../../../domain/agents/agent-versions.ts';
import { createAgent } from '../../../domain/agents/create-agent.ts';
import { deleteAgent } from '../../../domain/agents/delete-agent.ts';
import { pauseAgent, resumeAgent } from '../../../domain/agents/pause-agent.ts';
import { updateAgent } from '../../../domain/agents/update-agent.ts';
import { orderErasure } from '../../../domain/erasure/erasure.ts';
import { listInbox } from '../../../domain/inbox/list-inbox.ts';
import { pushServiceEvent } from '../../../domain/inbox/push-service-event.ts';
import { redrive } from '../../../domain/inbox/redrive.ts';
import { assertFilePrograms, type CheckProgram, filePrograms } from '../../../domain/mcp/file-programs.ts';
import { projectOf } from '../../../domain/projects/view.ts';
import { fromJson } from '../../../ports/store/schema/json.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, metadataField, OWN_ID_JSON, ownIdField, pageFields, pageOf, positionFields } from '../fields.ts';
import { assertMayReachOut } from '../may-reach-out.ts';
import {
  agentSchema,
  agentStatusSchema,
  agentVersionSchema,
  inboxItemSchema,
  inboxStatusSchema,
} from '../schemas/agent.ts';
import { eraseField, erasureSchema } from '../schemas/erasure.ts';
import { agentConfigJson } from '../schemas/shown-config.ts';

const spaceIds = z.array(idField).max(200).optional();

const newAgentSchema = z.looseObject({ id: ownIdField, spaceIds, metadata: metadataField.optional() }).meta({
  description: "The agent's configuration, and the spaces it joins at once.",
  properties: {
    ...agentConfigJson.properties,
    id: OWN_ID_JSON,
    spaceIds: { type: 'array', items: { type: 'string' }, maxItems: 200 },
    metadata: { type: 'object', additionalProperties: {} },
  },
  required: agentConfigJson.required,
  anyOf: [{ required: ['instructions'] }, { required: ['definition'] }],
  additionalProperties: false,
});

const ifVersion = z.int().min(1).optional();

const agentUpdateSchema = z.looseObject({ ifVersion }).meta({
  description:
    'The configuration fields to change. `null` removes a field. With `ifVersion`, another version is refused with 409.',
  properties: { ...agentConfigJson.properties, ifVersion: { type: 'integer', minimum: 1 } },
});

/**
 * `offered`: what a configuration may name. Default: not checked until the run. `checkProgram`
 * checks whether the program of an MCP server may be started. Default: no program is allowed.
 */
export function agentEndpoints(offered?: Offered, checkProgram: CheckProgram = filePrograms([])): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/agents',
      summary: 'List agents',
      access: 'key',
      query: z.strictObject({ ...pageFields, status: agentStatusSchema.optional() }),
      answer: pageOf(agentSchema),
      async handle({ caller, query }, tx) {
        const page = await listAgents(tx.db, { ...query, view: viewOf(caller) });
        return { ...page, items: await describeAgents(tx.db, page.items) };
      },
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
      async handle({ caller, body: { id, spaceIds, metadata, ...config } }, tx) {
        await assertMayReachOut(caller, config);
        assertFilePrograms(config, checkProgram);
        const agent = await createAgent(tx, {
          ...{ id, config, spaceIds, metadata, offered },
          project: projectOf(viewOf(caller)),
        });
        return await describeAgent(tx.db, agent);
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}',
      summary: 'Get an agent',
      access: 'key',
      answer: agentSchema,
      handle: async ({ params }, tx) => await describeAgent(tx.db, await getAgent(tx.db, params.id)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/agents/{id}',
      summary: 'Update an agent',
      description: 'The change applies from the next run on. A configuration that cannot work is refused as a whole.',
      access: 'key',
      body: agentUpdateSchema,
      answer: agentSchema,
      refusals: [409],
      async handle({ caller, params, body: { ifVersion, ...config } }, tx) {
        await assertMayReachOut(caller, config, async () => fromJson((await findAgent(tx.db, params.id)).config));
        assertFilePrograms(config, checkProgram);
        const update = { agentId: params.id, config, offered, ifVersion };
        return await describeAgent(tx.db, await updateAgent(tx, update));
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/agents/{id}',
      summary: 'Delete an agent',
      description:
        'Its waiting calls and its current run are cancelled, and its files are deleted. Its messages, runs and transcript are kept, unless `erase` is `true`: then their texts are erased, which cannot be undone.',
      access: 'key',
      query: z.strictObject({ erase: eraseField }),
      answer: z.strictObject({ id: z.string(), status: z.literal('deleted'), erasure: erasureSchema.optional() }),
      async handle({ params, query }, tx) {
        const { project_id: project } = await findAgent(tx.db, params.id);
        await deleteAgent(tx, params.id);
        const deleted = { id: params.id, status: 'deleted' as const };
        if (query.erase !== true) return deleted;
        return { ...deleted, erasure: await orderErasure(tx, { kind: 'agent', subjectId: params.id, project }) };
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/versions',
      summary: "List the versions of an agent's configuration, newest first",
      description: 'A run has the version that it started with: its `configVersion`.',
      access: 'key',
      query: z.strictObject({ ...positionFields }),
      answer: pageOf(agentVersionSchema),
      async handle({ params, query }, tx) {
        await findAgent(tx.db, params.id);
        return await listVersions(tx.db, params.id, query);
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/pause',
      summary: 'Pause an agent',
      description: 'The current run finishes and no other starts. Events wait in the inbox.',
      access: 'key',
      answer: agentSchema,
      handle: async ({ params }, tx) => await describeAgent(tx.db, await pauseAgent(tx, params.id)),
    }),
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/resume',
      summary: 'Resume a paused agent',
      access: 'key',
      answer: agentSchema,
      handle: async ({ params }, tx) => await describeAgent(tx.db, await resumeAgent(tx, params.id)),
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
      // It locks only the agent, so events for other agents can run at the same time.
      group: ({ id }) => ({ kind: 'event', keys: [id], turn: id }),
      handle: ({ params, body }, tx) => pushServiceEvent(tx, { ...body, agentId: params.id }),
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/inbox',
      summary: "List the events in an agent's inbox, newest first",
      access: 'key',
      query: z.strictObject({
        ...positionFields,
        status: inboxStatusSchema.optional(),
        runId: idField.optional().meta({ description: 'The events that woke this run.' }),
      }),
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
      async handle({ params, body }, tx) {
        return { eventIds: await redrive(tx, { agentId: params.id, eventIds: body?.eventIds }) };
      },
    }),
  ];
}
