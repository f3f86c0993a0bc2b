import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type NamedTool, namedBySubAgent, namedTools } from '../../config/named-tools.ts';
import { findTool, type RegisteredTool, type RegisteredTools } from '../../config/registered-tool.ts';
import { findToolRows } from '../../domain/tools/stored-tool.ts';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import type { Registry } from './registry.ts';

/** The tools that a configuration names and the configuration file does not have. */
export function namedInRegistry({ tools = [] }: AgentConfig, registry: Registry): readonly string[] {
  return outsideFile(namedTools(tools, []), registry);
}

function outsideFile(named: readonly NamedTool[], registry: Registry): readonly string[] {
  return named.map(({ reference }) => reference).filter((one) => findTool(registry.tools, one) === undefined);
}

/**
 * Reads only these tools, and those that sub-agents among them name, so the size of the registry does not matter. Sub-agents may
 * name each other.
 */
export async function readRegistryTools(
  db: Kysely<Tables>,
  references: readonly string[],
  registry: Registry,
  { project, toTool }: { readonly project: string; readonly toTool: (row: ToolRow) => RegisteredTool },
): Promise<RegisteredTools> {
  const found = new Map<string, RegisteredTool>();
  for (let wanted = references; wanted.length > 0; ) {
    const rows = (await findToolRows(db, wanted, project)).filter(({ name }) => !found.has(name));
    const added = rows.map((row) => [row.name, toTool(row)] as const);
    for (const [name, tool] of added) found.set(name, tool);
    wanted = added.flatMap(([, tool]) => outsideFile(namedBySubAgent(tool, []), registry));
  }
  return Object.fromEntries(found);
}
