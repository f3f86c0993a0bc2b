import { z } from 'zod';
import { findTool, type RegisteredTool } from '../../../config/registered-tool.ts';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { projectOf, type View } from '../../../domain/projects/view.ts';
import { createTool, deleteTool, updateTool } from '../../../domain/tools/change-tool.ts';
import { getTool, listOutside, listTools, type ToolCatalog } from '../../../domain/tools/list-tools.ts';
import { findToolRow, toRegisteredTool } from '../../../domain/tools/stored-tool.ts';
import type { Services } from '../../../ports/services.ts';
import { asJson } from '../../../ports/store/schema/json.ts';
import type { ToolRow } from '../../../ports/store/schema/tables.ts';
import type { Tx } from '../../../ports/store/store.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { tryTool } from '../../../runtime/toolset/try-tool.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { OWN_ID_JSON, ownIdField, pageOf, positionFields, projectField } from '../fields.ts';
import { jsonSchemaSchema } from '../schemas/json-schema.ts';
import { settlementSchema } from '../schemas/outcome.ts';
import { toolConfigJson } from '../schemas/shown-config.ts';

const sourceSchema = z.enum(['built-in', 'file', 'definition', 'mcp', 'api']);
const jsonObject = z.record(z.string(), z.unknown());

const toolSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    source: sourceSchema,
    definition: z.string().optional().meta({ description: 'The definition that has the tool.' }),
    project: projectField,
    executionType: z.enum(['gateway', 'external', 'space', 'internal']),
    visible: z.boolean(),
    effects: z.enum(['none', 'session', 'external']),
    terminal: z.boolean(),
    idempotent: z.boolean(),
    approval: z.boolean(),
    inputSchema: jsonSchemaSchema,
    outputSchema: jsonSchemaSchema.optional(),
    resultSchema: jsonSchemaSchema.optional(),
    config: jsonObject.optional(),
    version: z.int().optional(),
    usedBy: z.array(z.strictObject({ id: z.string(), name: z.string() })),
    createdAt: z.int().optional(),
    updatedAt: z.int().optional(),
  })
  .meta({ id: 'Tool' });

const newToolSchema = z.looseObject({ id: ownIdField }).meta({
  description: "The tool's configuration.",
  properties: { ...toolConfigJson.properties, id: OWN_ID_JSON },
  required: toolConfigJson.required,
  additionalProperties: false,
});

const toolUpdateSchema = jsonObject.meta({
  description: 'The configuration fields to change. `null` removes a field. The name stays.',
  properties: toolConfigJson.properties,
});

const trialSchema = z.strictObject({
  input: z.unknown(),
  approve: z.literal(true).optional().meta({ description: 'Runs a tool that needs approval.' }),
});

export interface ToolEndpointOptions {
  readonly services: Services;
  readonly catalog: ToolCatalog;
  /** The environment of tools. */
  readonly registry: Registry;
}

/** Writing a tool needs an admin key: a tool reaches the network, with the gateway's secrets. */
export function toolEndpoints({ services, catalog, registry }: ToolEndpointOptions): readonly Endpoint[] {
  const isTaken = (name: string): boolean => findTool(registry.tools, name) !== undefined;
  const show = async (tx: Tx, row: ToolRow): Promise<unknown> =>
    await getTool(tx.db, catalog, row.id, { project: row.project_id });
  return [
    endpoint({
      method: 'get',
      path: '/api/tools',
      summary: 'List tools',
      description:
        'Built-in tools, tools of the configuration file, of definitions and of MCP servers come first, then those of the registry.',
      access: 'key',
      query: z.strictObject({ ...positionFields, source: sourceSchema.optional() }),
      answer: pageOf(toolSchema),
      handle: ({ caller, query }, tx) => listTools(tx.db, catalog, { ...query, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/tools',
      summary: 'Register a tool',
      description: 'Agents name it by its name or its id. A configuration that cannot work is refused with its path.',
      access: 'admin',
      body: newToolSchema,
      status: 201,
      answer: toolSchema,
      refusals: [409],
      async handle({ caller, body: { id, ...config } }, tx) {
        return await show(tx, await createTool(tx, config, { id, isTaken, project: projectOf(viewOf(caller)) }));
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/tools/{id}',
      summary: 'Get a tool by id or name',
      access: 'key',
      answer: toolSchema,
      handle: ({ caller, params }, tx) => getTool(tx.db, catalog, params.id, viewOf(caller)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/tools/{id}',
      summary: 'Update a tool',
      description: 'The change applies from the next run of each agent on, on all gateways.',
      access: 'admin',
      body: toolUpdateSchema,
      answer: toolSchema,
      refusals: [409],
      async handle({ caller, params, body }, tx) {
        const view = viewOf(caller);
        await assertEditable(tx, catalog, params.id, view);
        const changes = { changes: body, isTaken, project: view.project };
        return await show(tx, await updateTool(tx, params.id, changes));
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/tools/{id}',
      summary: 'Delete a tool',
      description:
        'It is removed from the agents and sub-agents that name it. Calls that wait for a result can still be answered.',
      access: 'admin',
      answer: z.strictObject({
        id: z.string(),
        status: z.literal('deleted'),
        takenFrom: z.array(z.string()).meta({ description: 'The ids of agents.' }),
        takenFromTools: z.array(z.string()).meta({ description: 'The ids of sub-agents of the registry.' }),
      }),
      refusals: [409],
      async handle({ caller, params }, tx) {
        const view = viewOf(caller);
        await assertEditable(tx, catalog, params.id, view);
        return { id: params.id, status: 'deleted', ...(await deleteTool(tx, params.id, view.project)) };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/tools/{id}/test',
      summary: 'Test a tool',
      description:
        'Calls the tool once, for real, and returns how the call ended. No card is shown and nothing waits: a call that needs an answer from outside ends as pending.',
      access: 'admin',
      body: trialSchema,
      answer: settlementSchema,
      refusals: [409],
      async handle({ caller, params, body }, tx) {
        return { tool: await toTest(tx, params.id, viewOf(caller)), input: body.input, approve: body.approve === true };
      },
      async respond(trial, { request: { signal } }) {
        const settlement = await tryTool(services, registry, { ...trial, signal });
        return Response.json(asJson(settlement));
      },
    }),
  ];

  async function toTest(tx: Tx, nameOrId: string, view: View): Promise<RegisteredTool> {
    const ofFile = findTool(registry.tools, nameOrId);
    if (ofFile !== undefined) return ofFile;
    const row = await findToolRow(tx.db, nameOrId, view.project);
    if (row !== undefined) return toRegisteredTool(row);
    const { source } = (await outsideTool(catalog, nameOrId, view)) ?? {};
    if (source === undefined) throw notFound('tool', nameOrId);
    throw new ApiError('not_testable', `"${nameOrId}" (${source}) works only in a run of an agent.`, {
      details: { source },
    });
  }
}

async function outsideTool(
  { sources }: ToolCatalog,
  name: unknown,
  view: View,
): Promise<{ source: string } | undefined> {
  // Tools of definitions are found by their ids alone: others may have their names.
  return (await listOutside(sources, view)).find(
    (one) => one.id === name || (one.name === name && one.definition === undefined),
  );
}

async function assertEditable(tx: Tx, catalog: ToolCatalog, nameOrId: string, view: View): Promise<void> {
  const found = await outsideTool(catalog, nameOrId, view);
  if (found === undefined) return;
  // A tool of the registry may have the same name as a built-in tool.
  if (found.source === 'built-in' && (await findToolRow(tx.db, nameOrId, view.project)) !== undefined) return;
  const isOfFile = found.source === 'file' || found.source === 'definition';
  const where = isOfFile ? 'Change it in the configuration file.' : 'It cannot be changed here.';
  throw new ApiError(
    'not_editable',
    `"${nameOrId}" is not a tool of the registry: its source is "${found.source}". ${where}`,
    {
      details: { source: found.source },
    },
  );
}
