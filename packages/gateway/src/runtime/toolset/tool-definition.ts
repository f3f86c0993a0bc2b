import { createHash } from 'node:crypto';
import type { AnyTool, JsonSchemaObject, ToolSet } from '@lastcall/core';
import { toAskedDefinition } from '../../domain/grants/granted-definition.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { RunTools } from '../run/run-tool.ts';
import { advertisedInput } from './advertised-input.ts';

/**
 * The definition that a call of the tool would run, as one text. An approval is for this definition. The code of a tool
 * in TypeScript cannot be compared, but its description and settings can.
 */
async function definitionOf(offered: RunTools, name: string): Promise<string> {
  const { outside: tools = offered } = offered;
  // The tools of a machine's nodes are code of this process, and known only when they are offered.
  if (tools.ofNodes === true && !Object.hasOwn(tools.tools, name)) return '';
  // Read first, because this also reads the tools of MCP servers.
  const tool = tools.tools[name];
  const version = tools.versionOf(name);
  return definitionOfTool(tool, { version, inputSchema: await tools.named(name)?.inputSchema() });
}

/** The same for a tool whose version and input schema are known. */
export function definitionOfTool(
  tool: ToolSet[string] | undefined,
  { version, inputSchema }: { readonly version: string; readonly inputSchema: JsonSchemaObject | undefined },
): string {
  const { description, effects, idempotent, terminal } = (tool ?? {}) as Partial<AnyTool>;
  const said = typeof description === 'string' ? description : null;
  return hashOf({ version, description: said, effects, idempotent, terminal, inputSchema: inputSchema ?? null });
}

/** Why an approval of a call of this tool does not count any more. */
export function changedSinceAsked(toolName: string): string {
  return (
    `"${toolName}" has changed since this approval was requested, or was removed, so the approval does not count. If you still have the tool and ` +
    'need the call, call it again: approval is then requested for the tool as it is now.'
  );
}

/** Why an approval of a call of this tool does not count, if it does not: it is for the definition that was `asked`. */
export async function whyVoid(offered: RunTools, toolName: string, asked: string): Promise<string | undefined> {
  const { outside: tools = offered } = offered;
  if (tools.ofNodes !== true && tools.tools[toolName] === undefined) {
    const reason = tools.whyMissing?.(toolName);
    // Its server may come back with another tool before the call runs.
    if (reason !== undefined) return `The approval does not count any more. ${reason}`;
    // A tool that was deleted. The call cannot run, and core says why. Sections and modes of a definition may bring others.
    if (tools.named(toolName) === undefined && tools.isOfServer?.(toolName) !== true) return undefined;
  }
  return hasChanged(asked, await definitionOf(offered, toolName)) ? changedSinceAsked(toolName) : undefined;
}

/**
 * What is stored with a call that waits for approval, for the approval and for a grant. For a grant, the source text of a tool in
 * TypeScript is compared too, so that a grant does not outlive a change of its code. What the code imports is not compared.
 */
export async function askedDefinition(tools: RunTools, name: string): Promise<string> {
  const definition = await definitionOf(tools, name);
  // Calls of a fork cannot be granted.
  if (tools.outside !== undefined) return toAskedDefinition(definition, undefined);
  if (tools.named(name)?.grants === false) return toAskedDefinition(definition, undefined);
  const ofNodes = tools.toolsOfNodes?.(name) ?? [];
  if (ofNodes.length > 0) return await definitionOfNodes(tools, name, ofNodes);
  // A tool as data has a version, and its code is the gateway's.
  const code = tools.versionOf(name) === '' ? sourceOf(tools.named(name)?.tool ?? tools.tools[name]) : '';
  return toAskedDefinition(definition, hashOf({ code }));
}

const OF_NODE = 'node:';

/** Nodes may have different tools of one name, or one that the agent has too. Which of them a call runs is not known here. */
async function definitionOfNodes(tools: RunTools, name: string, ofNodes: readonly ToolSet[string][]): Promise<string> {
  if (Object.hasOwn(tools.tools, name)) return toAskedDefinition(await definitionOf(tools, name), undefined);
  const all = new Set<string>();
  for (const tool of ofNodes) {
    const { description, effects, idempotent, terminal } = tool as Partial<AnyTool>;
    const said = typeof description === 'string' ? description : null;
    const inputSchema = (await advertisedInput(name, tool)) ?? null;
    const definition = hashOf({ description: said, effects, idempotent, terminal, inputSchema });
    all.add(toAskedDefinition(`${OF_NODE}${definition}`, hashOf({ code: sourceOf(tool) })));
  }
  const [only = ''] = all;
  return all.size === 1 ? only : toAskedDefinition(OF_NODE, undefined);
}

/** True if the tool of an approval has changed. The tools of a machine's nodes are not known when a run begins. */
function hasChanged(asked: string, now: string): boolean {
  return asked !== now && !(now === '' && asked.startsWith(OF_NODE));
}

function sourceOf(tool: ToolSet[string] | undefined): readonly string[] {
  const { execute, approval } = (tool ?? {}) as { execute?: unknown; approval?: unknown };
  return [execute, approval].map((one) =>
    typeof one === 'function' ? Function.prototype.toString.call(one) : String(one),
  );
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64');
}
