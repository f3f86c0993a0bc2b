import type { AiSdkTool, AnyTool, ToolSet } from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import type { CompiledNode } from '../charter/compiled-node.ts';
import { TRANSITION_PREFIX, UPDATE_STATE } from '../charter/tool-names.ts';
import { bindTool, type Scope } from './bind-tool.ts';
import { transitionTool } from './transition-tool.ts';
import { updateStateTool } from './update-state-tool.ts';

const sets = new WeakMap<CompiledCharter, Map<string, ToolSet>>();

/**
 * The tools of a leaf: its node's, its packs', its ancestors', the charter's. If two have the same name, the nearest
 * counts. The same chain of nodes gets the same set each time, so that core describes it once.
 */
export function leafTools(charter: CompiledCharter, chain: readonly string[], worker: boolean): ToolSet {
  const known = sets.get(charter) ?? new Map<string, ToolSet>();
  sets.set(charter, known);
  const key = JSON.stringify([worker, ...chain]);
  const set = known.get(key) ?? gather(charter, chain, worker);
  known.set(key, set);
  return set;
}

function gather(charter: CompiledCharter, chain: readonly string[], worker: boolean): ToolSet {
  const [leaf, ...ancestors] = chain.map((name) => charter.node(name));
  const set: Record<string, AnyTool | AiSdkTool> = {};
  if (leaf === undefined) return set;
  for (const { tools, scope } of toolsInReach(charter, [leaf, ...ancestors], worker))
    for (const [name, tool] of Object.entries(tools)) if (!Object.hasOwn(set, name)) set[name] = bindTool(tool, scope);
  const transitions = transitionsOf(charter, leaf);
  if (leaf.writable !== 'nothing') set[UPDATE_STATE] = updateStateTool(leaf);
  for (const [name, tool] of transitions) set[`${TRANSITION_PREFIX}${name}`] = tool;
  return withPlainNames(set, transitions);
}

/** The tool of that name that a leaf has, as the charter defines it. */
export function definedTool(
  charter: CompiledCharter,
  chain: readonly string[],
  { worker, toolName }: { readonly worker: boolean; readonly toolName: string },
): AnyTool | AiSdkTool | undefined {
  const nodes = chain.map((name) => charter.node(name));
  return toolsInReach(charter, nodes, worker).find(({ tools }) => Object.hasOwn(tools, toolName))?.tools[toolName];
}

interface Reach {
  readonly tools: ToolSet;
  readonly scope: Scope;
}

/** The nearest first. */
function toolsInReach(
  charter: CompiledCharter,
  [leaf, ...ancestors]: readonly CompiledNode[],
  worker: boolean,
): readonly Reach[] {
  // A node that works for a worker is itself a worker, and workers have no packs.
  const packs = worker ? [] : (leaf?.packs ?? []);
  return [
    { tools: leaf?.tools ?? {}, scope: { kind: 'own' } },
    ...packs.map((pack): Reach => ({ tools: pack.tools, scope: { kind: 'pack', pack } })),
    ...ancestors.map(({ tools }, distance): Reach => ({ tools, scope: { kind: 'ancestor', distance } })),
    { tools: charter.tools, scope: { kind: 'charter' } },
  ];
}

/** The charter's transitions and the node's own, which take precedence. */
function transitionsOf(charter: CompiledCharter, leaf: CompiledNode): ReadonlyMap<string, AnyTool> {
  const named = new Map([...charter.transitions, ...leaf.transitions]);
  return new Map([...named].map(([name, transition]) => [name, transitionTool(transition)]));
}

/**
 * Models see `transition_refund`, and often call `refund`, because their instructions use that name: it is found too,
 * if no tool has the name. It is not enumerable: only listed names are advertised.
 */
function withPlainNames(set: ToolSet, transitions: ReadonlyMap<string, AnyTool>): ToolSet {
  for (const [name, value] of transitions)
    if (!Object.hasOwn(set, name)) Object.defineProperty(set, name, { value, enumerable: false });
  return set;
}
