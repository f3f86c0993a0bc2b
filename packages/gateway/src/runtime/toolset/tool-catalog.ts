import { type AnyTool, createSession, type ToolSet } from '@lastcall/core';
import { advertise } from '@lastcall/core/internal';
import { listTools as toolsIn } from '@lastcall/machines';
import { type CompiledDefinition, needsPeople } from '../../config/definitions.ts';
import type { GatewayLimits } from '../../config/limits.ts';
import type { RegisteredTool } from '../../config/registered-tool.ts';
import { isVisible } from '../../config/visibility.ts';
import type { ToolCatalog } from '../../domain/tools/list-tools.ts';
import type { ListedTool, ToolSource, ToolSourceName } from '../../domain/tools/listed-tool.ts';
import { toRegisteredTool } from '../../domain/tools/stored-tool.ts';
import type { ToolRow } from '../../ports/store/schema/tables.ts';
import { TASK_TOOLS } from '../tools/task-tools.ts';
import { agentBuiltIns } from './built-in-tools.ts';
import type { Registry } from './registry.ts';
import { toTool } from './run-tools.ts';

/** All tools of a gateway, for lists. `others` are sources besides the configuration file and the built-in tools. */
export function toolCatalog(
  registry: Registry,
  limits: Pick<GatewayLimits, 'messageCharacters'>,
  others: readonly ToolSource[] = [],
): ToolCatalog {
  const ofFile = Object.values(registry.tools);
  return {
    sources: [
      listOnce(() => Object.entries(agentBuiltIns(limits)).map(([name, tool]) => describeBuiltIn(name, tool))),
      listOnce(() => Object.values(TASK_TOOLS).map((one) => describeTool(one, registry, 'built-in'))),
      listOnce(() => ofFile.map((one) => describeTool(one, registry, 'file'))),
      listOnce(() => Object.values(registry.definitions ?? {}).flatMap((one) => describeDefined(one, registry))),
      ...others,
    ],
    describe: (row) => describeRow(row, registry),
  };
}

/** Tools of the process do not change, and making their schemas takes a while, so they are listed once. */
function listOnce(describeAll: () => readonly Promise<ListedTool>[]): ToolSource {
  let listed: Promise<readonly ListedTool[]> | undefined;
  return {
    async list() {
      listed ??= Promise.all(describeAll());
      return await listed;
    },
  };
}

async function describeRow(row: ToolRow, registry: Registry): Promise<ListedTool> {
  const { id, project_id: project, version, created_at: createdAt, updated_at: updatedAt } = row;
  const described = await describeTool(toRegisteredTool(row), registry, 'api');
  return { ...described, id, project, version, createdAt, updatedAt };
}

async function describeTool(one: RegisteredTool, registry: Registry, source: ToolSourceName): Promise<ListedTool> {
  const shown = await describeDefinition(one.name, toTool(one, registry), source);
  const { executionType } = one;
  const described = { ...shown, executionType, visible: isVisible(one) };
  if (one.kind === 'typescript') return described;
  const { kind: _kind, id: _id, version: _version, project: _project, ...config } = one;
  const { description, inputSchema, outputSchema, resultSchema } = config;
  return { ...described, description, inputSchema, outputSchema, resultSchema, config };
}

/** The tools of a definition: its own, those that its sections, plugins and `rewind` bring, and those of its nodes. */
function describeDefined(definition: CompiledDefinition, registry: Registry): readonly Promise<ListedTool>[] {
  const { name, tools, brought, machine } = definition;
  const own = new Map<string, () => Promise<ListedTool>>();
  const add = (id: string, describe: () => Promise<ListedTool>): void => {
    if (!own.has(id)) own.set(id, describe);
  };
  for (const one of Object.values(tools)) add(one.name, () => describeTool(one, registry, 'definition'));
  for (const [tool, { tool: code }] of brought) add(tool, () => describeBrought(tool, code));
  const ofNodes = new Map<string, ToolSet[string]>();
  for (const { name: tool, path, tool: code } of machine === undefined ? [] : toolsIn(machine.charter)) {
    if (code === undefined) continue;
    // Nodes may have different tools of one name, and hide one that every node has.
    const isOther = own.has(tool) && ofNodes.get(tool) !== code;
    if (!isOther) ofNodes.set(tool, code);
    add(isOther ? path : tool, () => describeBrought(tool, code));
  }
  return [...own].map(async ([id, describe]) => ({ ...(await describe()), id: `${name}:${id}`, definition: name }));
}

async function describeBrought(name: string, tool: ToolSet[string]): Promise<ListedTool> {
  return { ...(await describeDefinition(name, tool, 'definition')), visible: needsPeople(tool) };
}

function describeBuiltIn(name: string, tool: ToolSet[string]): Promise<ListedTool> {
  return describeDefinition(name, tool, 'built-in');
}

export async function describeDefinition(
  name: string,
  tool: ToolSet[string],
  source: ToolSourceName,
): Promise<ListedTool> {
  const [advertised] = await advertise({ [name]: tool }, { session: createSession(), pendingAnswered: true });
  const { effects = 'external', terminal, idempotent, approval } = tool as Partial<AnyTool>;
  const { description = '', inputSchema = { type: 'object' } } =
    advertised?.type === 'function' ? advertised : { description: name };
  return {
    id: name,
    name,
    description,
    source,
    executionType: 'internal',
    visible: false,
    effects,
    terminal: terminal === true,
    idempotent: idempotent === true,
    approval: approval !== undefined && approval !== false,
    inputSchema: inputSchema as ListedTool['inputSchema'],
  };
}
