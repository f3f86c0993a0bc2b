import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { McpExposure } from '../../config/mcp-exposure.ts';
import type { RegisteredTools } from '../../config/registered-tool.ts';
import { TOOL_CALLER_ID } from '../../domain/agents/tool-caller.ts';
import type { ToolCatalog } from '../../domain/tools/list-tools.ts';
import type { ListedTool } from '../../domain/tools/listed-tool.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { AgentRow, Tables } from '../../ports/store/tables.ts';

/** Something that an MCP client can call. */
export type Offered =
  | { readonly kind: 'tool'; readonly definition: Tool }
  | { readonly kind: 'agent'; readonly definition: Tool; readonly agentId: string }
  /** Finds what came of an earlier call. */
  | { readonly kind: 'run'; readonly definition: Tool };

export interface Offer {
  readonly catalog: ToolCatalog;
  readonly fileTools: RegisteredTools;
  readonly exposure: McpExposure;
}

/** All that is offered, by name: tools, agents, and `get_run`. Tools keep their names; an agent that would share one gets a hash. */
export async function offeredTools(db: Kysely<Tables>, offer: Offer): Promise<ReadonlyMap<string, Offered>> {
  const offered = new Map<string, Offered>();
  const add = (one: Offered): void => void offered.set(one.definition.name, one);
  for (const tool of await listTools(db, offer)) add({ kind: 'tool', definition: describeTool(tool) });
  for (const agent of await listAgents(db, offer)) {
    const name = agentToolName(agent, (taken) => offered.has(taken));
    add({ kind: 'agent', agentId: agent.id, definition: describeAgent(agent, name) });
  }
  if (offered.size > 0)
    add({ kind: 'run', definition: describeRun(offered.has('get_run') ? 'get_mcp_run' : 'get_run') });
  return offered;
}

async function listTools(db: Kysely<Tables>, offer: Offer): Promise<readonly ListedTool[]> {
  const { catalog, fileTools, exposure } = offer;
  if (exposure.tools === false) return [];
  const lists = await Promise.all(catalog.sources.map((one) => one.list()));
  const ofFile = lists.flat().filter(({ source, name }) => source === 'file' && !isProviders(fileTools, name));
  const rows = await db.selectFrom('tools').selectAll().orderBy('id').execute();
  const ofRegistry = await Promise.all(rows.map((row) => catalog.describe(row)));
  const known = new Set(ofFile.map(({ name }) => name));
  // A tool of the file hides one of the registry, as it does for agents.
  const all = [...ofFile, ...ofRegistry.filter(({ name }) => !known.has(name))];
  return all.filter(({ id, name }) => isNamed(exposure.tools, id, name));
}

/** A tool that the provider of a model runs cannot be called without that model. */
function isProviders(tools: RegisteredTools, name: string): boolean {
  const one = tools[name];
  return one?.kind === 'typescript' && 'type' in one.tool && one.tool.type?.startsWith('provider') === true;
}

type OfferedAgent = Pick<AgentRow, 'id' | 'name' | 'config'>;

async function listAgents(db: Kysely<Tables>, { exposure }: Offer): Promise<readonly OfferedAgent[]> {
  if (exposure.agents === false) return [];
  const agents = await db
    .selectFrom('agents')
    .select(['id', 'name', 'config'])
    .where('status', '=', 'active')
    .where('id', '!=', TOOL_CALLER_ID)
    .orderBy('id')
    .execute();
  return agents.filter(({ id, name }) => isNamed(exposure.agents, id, name));
}

function isNamed(names: boolean | readonly string[], id: string, name: string): boolean {
  return typeof names === 'boolean' ? names : names.includes(id) || names.includes(name);
}

/** Hints for the client's user. What is not known is told as the worst. */
function describeTool({ name, description, inputSchema, effects, idempotent }: ListedTool): Tool {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: {
      readOnlyHint: effects === 'none',
      destructiveHint: effects === 'external',
      idempotentHint: idempotent || effects === 'none',
      openWorldHint: effects === 'external',
    },
  };
}

function describeAgent({ name, config }: OfferedAgent, toolName: string): Tool {
  const { description } = fromJson<AgentConfig>(config);
  return {
    name: toolName,
    title: name,
    description: `Asks the agent ${name}.${description === undefined ? '' : ` ${description}`}`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'What the agent is asked or told.' },
        context_id: {
          type: 'string',
          description:
            'Continues an earlier conversation: the context_id of its answer. Leave it out to begin a new one.',
        },
      },
      required: ['message'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  };
}

function describeRun(name: string): Tool {
  return {
    name,
    description: 'Gets the result of an earlier call that was interrupted or waits for somebody, by the id of its run.',
    inputSchema: {
      type: 'object',
      properties: { run_id: { type: 'string', description: 'The id of the run, as the call told it.' } },
      required: ['run_id'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

const LONGEST_NAME = 64;

/** `ask_` and the agent's name in plain letters. Names that cannot be written so, and those that are taken, get a hash of the id. */
function agentToolName({ id, name }: OfferedAgent, isTaken: (name: string) => boolean): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const short = `ask_${plain}`.slice(0, LONGEST_NAME);
  if (plain !== '' && short.length === plain.length + 4 && !isTaken(short)) return short;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `${short.slice(0, LONGEST_NAME - 9).replace(/_$/, '')}_${hash}`;
}
