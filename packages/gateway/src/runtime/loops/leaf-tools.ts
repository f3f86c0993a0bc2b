import { LastcallError, type ToolSet } from '@lastcall/core';
import { isReservedToolName } from '../../config/reserved-tool-names.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { RunSetup } from '../run/run-setup.ts';
import type { RunTool, RunTools } from '../run/run-tool.ts';
import { withoutEffects } from '../toolset/client-tools.ts';
import { toBroughtTool } from '../toolset/run-tools.ts';

/**
 * The tools that the nodes of a machine have, in one run. They become known when an instance is first offered them, because a transition may
 * lead to any node. If nodes have different tools of one name, the one that was offered last is known: a tool of a node that only another
 * run has reached is not.
 */
export class LeafTools {
  readonly #known = new Map<string, RunTool>();
  readonly #offered = new Map<string, Set<ToolSet[string]>>();
  readonly #offers: OffersByTools;
  readonly #settings: TurnSettings | undefined;
  #last: Offer | undefined;
  #isAnyVisible = false;

  /** Runs of one setup share the lists of tools that they offer: then a model's list of tools is made once, and not in each run. */
  constructor({ setup, settings }: { readonly setup: RunSetup; readonly settings: TurnSettings | undefined }) {
    this.#settings = settings;
    this.#offers = shared.get(setup) ?? new WeakMap();
    shared.set(setup, this.#offers);
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
      toolsOfNodes: (name) => [...(this.#offered.get(name) ?? [])],
      named: (name) => tools.named(name) ?? this.#known.get(name),
    };
  }

  /** The tools of an instance: those of its node, and those of the agent. If both have a name, the node's counts. */
  offer(own: ToolSet, ofAgent: ToolSet): ToolSet {
    const byAgent = this.#offers.get(own) ?? new WeakMap<ToolSet, Offer>();
    this.#offers.set(own, byAgent);
    const offer = byAgent.get(ofAgent) ?? merge(own, ofAgent, this.#settings);
    byAgent.set(ofAgent, offer);
    if (offer !== this.#last) this.#note(offer);
    return offer.tools;
  }

  #note(offer: Offer): void {
    this.#last = offer;
    for (const one of offer.own) {
      this.#known.set(one.name, one);
      if (one.tool !== undefined) this.#offered.set(one.name, (this.#offered.get(one.name) ?? new Set()).add(one.tool));
      this.#isAnyVisible ||= one.isVisible;
    }
  }
}

/** What an instance is offered. */
interface Offer {
  readonly tools: ToolSet;
  /** Those of its node. */
  readonly own: readonly RunTool[];
}

/** By the tools of a node, and those of the agent. */
type OffersByTools = WeakMap<ToolSet, WeakMap<ToolSet, Offer>>;

const shared = new WeakMap<RunSetup, OffersByTools>();

function merge(all: ToolSet, ofAgent: ToolSet, settings: TurnSettings | undefined): Offer {
  const own = settings?.isWithoutEffects === true ? withoutEffects(all) : all;
  const tools: Record<string, ToolSet[string]> = { ...ofAgent, ...own };
  const known = Object.entries(own).map(([name, tool]) => {
    if (isReservedToolName(name)) throw reserved(name);
    return toBroughtTool(name, tool);
  });
  // Names that are found but not advertised: models often leave out the prefix of a transition.
  for (const name of Object.getOwnPropertyNames(own))
    if (!Object.hasOwn(tools, name)) Object.defineProperty(tools, name, { value: own[name], enumerable: false });
  return { tools, own: known };
}

/** The journal treats calls of built-in tools in its own way, so no other tool may have their names. */
function reserved(name: string): LastcallError {
  const message = `A node of the machine has a tool "${name}". Every agent has a built-in tool of that name: rename it.`;
  return new LastcallError('tool_set', message);
}
