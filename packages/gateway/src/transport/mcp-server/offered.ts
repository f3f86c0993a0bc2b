import type { Tool } from '@modelcontextprotocol/server';
import type { Kysely } from 'kysely';
import type { McpExposure } from '../../config/mcp-exposure.ts';
import type { RegisteredTools } from '../../config/registered-tool.ts';
import { isNarrow, projectOf, type View } from '../../domain/projects/view.ts';
import type { ToolCatalog } from '../../domain/tools/list-tools.ts';
import type { ListedTool } from '../../domain/tools/listed-tool.ts';
import { findToolRows, listToolNames, listToolRows } from '../../domain/tools/stored-tool.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { describeAgent, describeRun, describeTool } from './describe-offered.ts';
import { listOfferedAgents } from './offered-agents.ts';

/** Something that an MCP client can call. */
export type Offered =
  | { readonly kind: 'tool'; readonly definition: Tool }
  | { readonly kind: 'agent'; readonly definition: Tool; readonly agentId: string }
  /** Finds the result of an earlier call. */
  | { readonly kind: 'run'; readonly definition: Tool };

export interface Offer {
  readonly catalog: ToolCatalog;
  readonly fileTools: RegisteredTools;
  readonly exposure: McpExposure;
}

/** Lists everything that is offered: the tools of the file and of the registry, the agents, and `get_run`. */
export async function listOffered(db: Kysely<Tables>, offer: Offer, view: View): Promise<readonly Offered[]> {
  const tools = await listTools(db, offer, view);
  const names = new Set(tools.map(({ name }) => name));
  return [
    ...tools.map((one): Offered => ({ kind: 'tool', definition: describeTool(one) })),
    ...(await agents(db, offer, { toolNames: names, view })),
    { kind: 'run', definition: describeRun(runToolName(names)) },
  ];
}

/** Finds one of them by name. Definitions of other tools are not read, because there may be thousands. */
export async function findOffered(
  db: Kysely<Tables>,
  offer: Offer,
  { name, view }: { readonly name: string; readonly view: View },
): Promise<Offered | undefined> {
  const tool = await findTool(db, offer, { name, view });
  if (tool !== undefined) return { kind: 'tool', definition: describeTool(tool) };
  const names = await toolNames(db, offer, view);
  if (name === runToolName(names)) return { kind: 'run', definition: describeRun(name) };
  return (await agents(db, offer, { toolNames: names, view })).find(({ definition }) => definition.name === name);
}

/** The name of `get_run`, which differs if a tool of that name is offered. */
export async function nameOfGetRun(db: Kysely<Tables>, offer: Offer, view: View): Promise<string> {
  return runToolName(await toolNames(db, offer, view));
}

function runToolName(toolNames: ReadonlySet<string>): string {
  return toolNames.has('get_run') ? 'get_mcp_run' : 'get_run';
}

async function agents(
  db: Kysely<Tables>,
  { exposure }: Offer,
  { toolNames, view }: { readonly toolNames: ReadonlySet<string>; readonly view: View },
): Promise<readonly Offered[]> {
  const offered = await listOfferedAgents(db, exposure.agents, { toolNames, view });
  return offered.map(({ toolName, ...agent }) => ({
    kind: 'agent',
    agentId: agent.id,
    definition: describeAgent(agent, toolName),
  }));
}

async function listTools(db: Kysely<Tables>, offer: Offer, view: View): Promise<readonly ListedTool[]> {
  // A key for certain agents may talk to these, and to nothing else.
  if (isNarrow(view)) return [];
  const ofFile = await listFileTools(offer);
  const known = new Set(ofFile.map(({ name }) => name));
  const rows = offer.exposure.tools === false ? [] : await listToolRows(db, projectOf(view));
  // A tool of the file hides one of the registry, as it does for agents.
  const others = rows.filter(({ id, name }) => !known.has(name) && isNamed(offer.exposure.tools, id, name));
  return [...ofFile, ...(await Promise.all(others.map((row) => offer.catalog.describe(row))))];
}

async function findTool(
  db: Kysely<Tables>,
  offer: Offer,
  { name, view }: { readonly name: string; readonly view: View },
): Promise<ListedTool | undefined> {
  if (isNarrow(view)) return undefined;
  const ofFile = (await listFileTools(offer)).find((one) => one.name === name);
  if (ofFile !== undefined || Object.hasOwn(offer.fileTools, name)) return ofFile;
  const row = (await findToolRows(db, [name], projectOf(view))).find((one) => one.name === name);
  const isOffered = row !== undefined && isNamed(offer.exposure.tools, row.id, row.name);
  return isOffered ? await offer.catalog.describe(row) : undefined;
}

async function toolNames(db: Kysely<Tables>, offer: Offer, view: View): Promise<ReadonlySet<string>> {
  if (isNarrow(view)) return new Set();
  const all = await listToolNames(db, projectOf(view));
  const ofRegistry = all.filter(({ id, name }) => isNamed(offer.exposure.tools, id, name));
  return new Set([...(await listFileTools(offer)), ...ofRegistry].map(({ name }) => name));
}

async function listFileTools({ catalog, fileTools, exposure }: Offer): Promise<readonly ListedTool[]> {
  const lists = await Promise.all(catalog.sources.map((one) => one.list()));
  return lists
    .flat()
    .filter(({ source, id, name }) => source === 'file' && isNamed(exposure.tools, id, name))
    .filter(({ name }) => !isProviders(fileTools, name));
}

/** A tool that the provider of a model runs cannot be called without that model. */
function isProviders(tools: RegisteredTools, name: string): boolean {
  const one = tools[name];
  return one?.kind === 'typescript' && 'type' in one.tool && one.tool.type?.startsWith('provider') === true;
}

function isNamed(names: boolean | readonly string[], id: string, name: string): boolean {
  return typeof names === 'boolean' ? names : names.includes(id) || names.includes(name);
}
