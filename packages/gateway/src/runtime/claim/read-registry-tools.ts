import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type NamedTool, namedBySubAgent, namedTools } from '../../config/named-tools.ts';
import { findTool, type RegisteredTool, type RegisteredTools } from '../../config/registered-tool.ts';
import { findToolRows, toRegisteredTool } from '../../domain/tools/stored-tool.ts';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import type { Registry } from '../toolset/registry.ts';

/**
 * Reads only the registry's tools that a configuration names, so the size of the registry does not matter. `version`
 * was read with the claim. While it does not change, the same object is returned without reading the store, so that
 * tools are made once.
 */
export async function readRegistryTools(
  db: Kysely<Tables>,
  registry: Registry,
  config: AgentConfig,
  version: string | null,
): Promise<RegisteredTools> {
  const known = readsOf(registry);
  const before = known.get(config) ?? { version: null, tools: NONE, references: namedInRegistry(config, registry) };
  if (before.references.length === 0 || before.version === version) {
    known.set(config, before);
    return before.tools;
  }
  const rows = await findAll(db, before.references, registry);
  const found = Object.fromEntries(rows.map((row) => [row.name, toolOf(row)]));
  // Most changes of the registry concern other agents' tools.
  const tools = isSame(before.tools, found) ? before.tools : found;
  known.set(config, { ...before, version, tools });
  return tools;
}

const NONE: RegisteredTools = {};

interface ToolsRead {
  readonly version: string | null;
  readonly tools: RegisteredTools;
  readonly references: readonly string[];
}

const reads = new WeakMap<Registry, WeakMap<AgentConfig, ToolsRead>>();

function readsOf(registry: Registry): WeakMap<AgentConfig, ToolsRead> {
  const known = reads.get(registry) ?? new WeakMap<AgentConfig, ToolsRead>();
  reads.set(registry, known);
  return known;
}

function namedInRegistry({ tools = [] }: AgentConfig, registry: Registry): readonly string[] {
  return outsideFile(namedTools(tools, []), registry);
}

function outsideFile(named: readonly NamedTool[], registry: Registry): readonly string[] {
  return named.map(({ reference }) => reference).filter((one) => findTool(registry.tools, one) === undefined);
}

/** Also finds the tools that sub-agents among them name, and so on. Sub-agents may name each other. */
async function findAll(
  db: Kysely<Tables>,
  references: readonly string[],
  registry: Registry,
): Promise<readonly ToolRow[]> {
  const found = new Map<string, ToolRow>();
  for (let wanted = references; wanted.length > 0; ) {
    const added = (await findToolRows(db, wanted)).filter(({ id }) => !found.has(id));
    for (const row of added) found.set(row.id, row);
    wanted = added.flatMap((row) => outsideFile(namedBySubAgent(toolOf(row), []), registry));
  }
  return [...found.values()];
}

function isSame(before: RegisteredTools, now: RegisteredTools): boolean {
  const names = Object.keys(now);
  return names.length === Object.keys(before).length && names.every((name) => before[name] === now[name]);
}

// The same row gives the same object: agents share tools, and unchanged tools are not made again.
const tools = new LRUCache<string, RegisteredTool>({
  max: 5_000,
  // With the compiled tools, this takes about ten times as many bytes.
  maxSize: 20_000_000,
  sizeCalculation: (_tool, key) => key.length,
});

function toolOf(row: ToolRow): RegisteredTool {
  const key = `${row.id} ${row.version} ${row.config}`;
  const made = tools.get(key) ?? toRegisteredTool(row);
  tools.set(key, made);
  return made;
}
