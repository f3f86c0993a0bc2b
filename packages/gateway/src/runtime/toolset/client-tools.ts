import { type AnyTool, mergeToolSets, type ToolSet } from '@lastcall/core';
import { LRUCache } from 'lru-cache';
import { dataSchema } from '../../config/data-schema.ts';
import type { ClientTool, TurnSettings } from '../../domain/conversations/turn-settings.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { RunTools } from '../run/run-tool.ts';
import { advertisedInput } from './advertised-input.ts';

/** Adds the tools that the caller runs. They have no `execute`, so a call waits for the caller's answer. */
export function withClientTools(own: RunTools, settings: TurnSettings | undefined): RunTools {
  const { clientTools = [] } = settings ?? {};
  if (clientTools.length === 0) return own;
  const added = clientToolSet(clientTools);
  const known = new Map(
    Object.entries(added).map(([name, tool]) => [
      name,
      { name, isVisible: false, isJob: false, isSilent: false, inputSchema: () => advertisedInput(name, tool) },
    ]),
  );
  return { ...own, tools: mergeToolSets(own.tools, added), named: (name) => known.get(name) ?? own.named(name) };
}

/** Throws if a schema cannot be used or a name is not valid for a tool. Equal tools give the same object. */
export function clientToolSet(tools: readonly ClientTool[]): ToolSet {
  return mergeToolSets(sets.memo(toJson(tools), { context: tools }));
}

/** The memory that callers' tools take: about this many bytes per character of their JSON. */
const BYTES_PER_CHARACTER = 16;
const MOST_BYTES = 64_000_000;

const sets = new LRUCache<string, ToolSet, readonly ClientTool[]>({
  max: 1_000,
  maxSize: MOST_BYTES,
  sizeCalculation: (_set, json) => json.length * BYTES_PER_CHARACTER,
  memoMethod: (_key, _stale, { context }) =>
    Object.fromEntries(
      context.map(({ name, description = name, inputSchema = { type: 'object' } }) => [
        name,
        { description, inputSchema: dataSchema(inputSchema) },
      ]),
    ),
});

/** The tools that a run may offer. */
export function forSettings(tools: RunTools, settings: TurnSettings | undefined): RunTools {
  if (settings?.isWithoutEffects !== true) return tools;
  let all: ToolSet | undefined;
  let harmless: ToolSet = {};
  return {
    ...tools,
    // The tools of MCP servers may change from step to step.
    get tools() {
      const now = tools.tools;
      if (now !== all) [all, harmless] = [now, withoutEffects(now)];
      return harmless;
    },
  };
}

/** Tools that change nothing. */
export function withoutEffects(tools: ToolSet): ToolSet {
  return Object.fromEntries(Object.entries(tools).filter(([, tool]) => (tool as Partial<AnyTool>).effects === 'none'));
}
