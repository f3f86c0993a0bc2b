import { mergeToolSets, type ToolSet } from '../contract/tool-set.ts';
import type { Policy } from '../policies/policy.ts';
import type { AnyResource } from '../session/resource.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { AnySlice } from '../session/slice.ts';
import { openedIn, openedSections } from './opened-sections.ts';
import { mayBeSummarised, type SectionNode, withPolicies } from './prompt-tree.ts';
import type { Params } from './section-params.ts';
import { sectionsText } from './section-text.ts';
import { createSectionTools } from './section-tools.ts';
import { type ShownSection, shownSections } from './shown-sections.ts';

/** A rendered prompt without the list of terminal tools, which is known only once all tools are. */
export interface PromptBody {
  readonly body: string;
  readonly tools: ToolSet;
}

interface Parts {
  /** Distinguishes the prompts on one session. */
  readonly id: string;
  readonly roots: readonly SectionNode[];
  readonly policies: readonly Policy[];
  readonly resources: readonly AnyResource[];
}

export function createBody(parts: Parts): (session: SessionLayer, params: Params) => PromptBody {
  const { id, roots, resources } = parts;
  const watchesOpenings = mayBeSummarised(roots);
  const merged = createMergedTools();
  return (session, params) => {
    const opened = watchesOpenings ? openedIn(session, id) : new Set<string>();
    const shown = shownSections(roots, { session, params, opened });
    const body = sectionsText(shown, params);
    introduce(session, [...(watchesOpenings ? [openedSections] : []), ...shown.flatMap(({ node }) => node.slices)]);
    for (const resource of resources) session.addResource(resource);
    const tools = merged(shown.filter(({ as }) => as === 'full').map(({ node }) => node.tools));
    const reading = sectionTools(parts, shown, params);
    return { body, tools: Object.keys(reading).length === 0 ? tools : mergeToolSets(tools, reading) };
  };
}

/** Merges tool sets. The same sets as the last time give the same object, because a turn caches what it makes of it. */
function createMergedTools(): (sets: readonly ToolSet[]) => ToolSet {
  let last: { readonly sets: readonly ToolSet[]; readonly tools: ToolSet } | undefined;
  return (sets) => {
    const isSame = last?.sets.length === sets.length && sets.every((one, index) => one === last?.sets[index]);
    if (last === undefined || !isSame) last = { sets, tools: mergeToolSets(...sets) };
    return last.tools;
  };
}

/**
 * These tools are created at each rendering, because they hold its parameters and a prompt must hold no state of a run.
 */
function sectionTools({ id, roots, policies }: Parts, shown: readonly ShownSection[], params: Params): ToolSet {
  if (!shown.some(({ as }) => as === 'summary')) return {};
  const made = Object.entries(createSectionTools({ prompt: id, roots, params }));
  return Object.fromEntries(made.map(([name, tool]) => [name, withPolicies(tool, policies)]));
}

function introduce(session: SessionLayer, slices: readonly AnySlice[]): void {
  // The draft of a tool without effects can register slices too: nothing of it is ever committed.
  if (session.isReadOnly) session.adopt(slices);
  else session.register(...slices);
}
