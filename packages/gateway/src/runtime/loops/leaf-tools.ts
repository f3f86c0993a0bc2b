import { LastcallError, type ToolSet } from '@lastcall/core';
import { isReservedToolName } from '../../config/reserved-tool-names.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { RunSetup } from '../run/run-setup.ts';
import type { RunTool, RunTools } from '../run/run-tool.ts';
import { withoutEffects } from '../toolset/client-tools.ts';
import { toBroughtTool } from '../toolset/run-tools.ts';

/**
 * The tools that the nodes of a machine have. They become known when an instance is first offered them, because a transition may lead to
 * any node.
 */
export class LeafTools {
  readonly #known = new Map<string, RunTool>();
  readonly #merged = new WeakMap<ToolSet, WeakMap<ToolSet, ToolSet>>();

  readonly #settings: TurnSettings | undefined;

  #isAnyVisible = false;

  constructor(settings: TurnSettings | undefined) {
    this.#settings = settings;
  }

  /** The tools of a machine's nodes. Runs of one setup share them: then a model's list of tools is made once, and not in each run. */
  static of({ setup, settings }: { readonly setup: RunSetup; readonly settings: TurnSettings | undefined }): LeafTools {
    const known = shared.get(setup) ?? new LeafTools(settings);
    shared.set(setup, known);
    return known;
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  addTo(tools: RunTools): RunTools {
    const isAnyVisible = (): boolean => this.#isAnyVisible || tools.isAnyVisible;
    return {
      ...tools,
      get tools() {
        return tools.tools;
      },
      // Whether one of the nodes' tools is visible is known when it is offered.
      get isAnyVisible() {
        return isAnyVisible();
      },
      ofNodes: true,
      named: (name) => tools.named(name) ?? this.#known.get(name),
    };
  }

  /** The tools of an instance: those of its node, and those of the agent. If both have a name, the node's counts. */
  offer(own: ToolSet, ofAgent: ToolSet): ToolSet {
    const known = this.#merged.get(own) ?? new WeakMap<ToolSet, ToolSet>();
    this.#merged.set(own, known);
    const merged = known.get(ofAgent) ?? this.#merge(own, ofAgent);
    known.set(ofAgent, merged);
    return merged;
  }

  #merge(all: ToolSet, ofAgent: ToolSet): ToolSet {
    const own = this.#settings?.isWithoutEffects === true ? withoutEffects(all) : all;
    const merged: Record<string, ToolSet[string]> = { ...ofAgent, ...own };
    for (const [name, tool] of Object.entries(own)) {
      if (isReservedToolName(name)) throw reserved(name);
      const known = toBroughtTool(name, tool);
      this.#known.set(name, known);
      this.#isAnyVisible ||= known.isVisible;
    }
    // Names that are found but not advertised: models often leave out the prefix of a transition.
    for (const name of Object.getOwnPropertyNames(own))
      if (!Object.hasOwn(merged, name)) Object.defineProperty(merged, name, { value: own[name], enumerable: false });
    return merged;
  }
}

const shared = new WeakMap<RunSetup, LeafTools>();

/** The journal treats calls of built-in tools in its own way, so no other tool may have their names. */
function reserved(name: string): LastcallError {
  const message = `A node of the machine has a tool "${name}". Every agent has a built-in tool of that name: rename it.`;
  return new LastcallError('tool_set', message);
}
