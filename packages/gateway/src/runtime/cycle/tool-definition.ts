import { createHash } from 'node:crypto';
import type { AnyTool } from '@lastcall/core';
import { canonicalJson } from '../../ports/store/json.ts';
import type { CycleTools } from './cycle-tools.ts';

/**
 * What would run for a call of the tool, as one text: an approval is for this. The code of a tool in TypeScript cannot be compared, but
 * what it says of itself can.
 */
export async function definitionOf(tools: CycleTools, name: string): Promise<string> {
  // Asked for first: the tools of MCP servers are read with it.
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
