import { type AnyTool, jsonSchema, mergeToolSets, type ToolSet } from '@lastcall/core';
import { LRUCache } from 'lru-cache';
import { withoutPatterns } from '../../config/without-patterns.ts';
import type { ClientTool, TurnSettings } from '../../domain/contexts/turn-settings.ts';
import { toJson } from '../../ports/store/json.ts';
import { advertisedInput, type CycleTools } from './cycle-tools.ts';

/** Adds the tools that the caller runs itself: without an `execute`, a call of one waits for its answer. */
export function withClientTools(own: CycleTools, settings: TurnSettings | undefined): CycleTools {
  const { clientTools = [] } = settings ?? {};
  if (clientTools.length === 0) return own;
  const added = clientToolSet(clientTools);
  const known = new Map(
    Object.entries(added).map(([name, tool]) => [
      name,
      { name, isVisible: false, isJob: false, inputSchema: () => advertisedInput(name, tool) },
    ]),
  );
  return { ...own, tools: mergeToolSets(own.tools, added), named: (name) => known.get(name) ?? own.named(name) };
}

/** Throws where a schema cannot be used, or a name cannot be that of a tool. The same tools give the same object. */
export function clientToolSet(tools: readonly ClientTool[]): ToolSet {
  return mergeToolSets(sets.memo(toJson(tools), { context: tools }));
}

const sets = new LRUCache<string, ToolSet, readonly ClientTool[]>({
  max: 1_000,
  memoMethod: (_key, _stale, { context }) =>
    Object.fromEntries(
      context.map(({ name, description = name, inputSchema = { type: 'object' } }) => [
        name,
        // A schema of data: its regular expressions are not run.
        { description, inputSchema: jsonSchema(withoutPatterns(inputSchema)) },
      ]),
    ),
});

/** The tools that a run may offer. */
export function forSettings(tools: CycleTools, settings: TurnSettings | undefined): CycleTools {
  if (settings?.isWithoutEffects !== true) return tools;
  return {
    ...tools,
    get tools() {
      return withoutEffects(tools.tools);
    },
  };
}

function withoutEffects(tools: ToolSet): ToolSet {
  const known = harmless.get(tools);
  if (known !== undefined) return known;
  const kept = Object.entries(tools).filter(([, tool]) => (tool as Partial<AnyTool>).effects === 'none');
  const made = Object.fromEntries(kept);
  harmless.set(tools, made);
  return made;
}

const harmless = new WeakMap<ToolSet, ToolSet>();
