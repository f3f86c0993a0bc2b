import { createHash } from 'node:crypto';
import type { AnyTool } from '@lastcall/core';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { RunTools } from '../run/run-tool.ts';

/**
 * The definition that a call of the tool would run, as one text. An approval is for this definition. The code of a tool
 * in TypeScript cannot be compared, but its description and settings can.
 */
export async function definitionOf(offered: RunTools, name: string): Promise<string> {
  const { outside: tools = offered } = offered;
  // The tools of a machine's nodes are code of this process, and known only when they are offered.
  if (tools.ofNodes === true && !Object.hasOwn(tools.tools, name)) return '';
  // Read first, because this also reads the tools of MCP servers.
  const { description, effects, idempotent, terminal } = (tools.tools[name] ?? {}) as Partial<AnyTool>;
  const definition = {
    version: tools.versionOf(name),
    description: typeof description === 'string' ? description : null,
    effects,
    idempotent,
    terminal,
    inputSchema: (await tools.named(name)?.inputSchema()) ?? null,
  };
  return createHash('sha256').update(canonicalJson(definition)).digest('base64');
}
