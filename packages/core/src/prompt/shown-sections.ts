import type { SectionContext, Visibility } from '../contract/section.ts';
import { PromptRenderError } from '../errors.ts';
import { errorText } from '../results/describe-error.ts';
import type { Session } from '../session/session.ts';
import type { SectionNode } from './prompt-tree.ts';
import type { Params } from './section-params.ts';

/** Everything that decides how a prompt looks now. */
export interface Rendering {
  readonly session: Session;
  readonly params: Params;
  /** The paths of the sections that a model has opened. */
  readonly opened: ReadonlySet<string>;
}

export interface ShownSection {
  readonly node: SectionNode;
  readonly as: Visibility;
}

/** The enabled sections in reading order. Sections below a summarised one are not shown. */
export function shownSections(nodes: readonly SectionNode[], rendering: Rendering): readonly ShownSection[] {
  return nodes.filter((node) => isEnabled(node, rendering)).flatMap((node) => showNode(node, rendering));
}

/** A section with all sections below it, in full. Its visibility setting is ignored. */
export function shownInFull(node: SectionNode, rendering: Rendering): readonly ShownSection[] {
  return [{ node, as: 'full' }, ...shownSections(node.children, rendering)];
}

/** The section with that path, if it and all above it are enabled. */
export function findEnabled(
  nodes: readonly SectionNode[],
  path: string,
  rendering: Rendering,
): SectionNode | undefined {
  const next = nodes.find((node) => path === node.path || path.startsWith(`${node.path}.`));
  if (next === undefined || !isEnabled(next, rendering)) return undefined;
  return next.path === path ? next : findEnabled(next.children, path, rendering);
}

function showNode(node: SectionNode, rendering: Rendering): readonly ShownSection[] {
  return visibilityOf(node, rendering) === 'full' ? shownInFull(node, rendering) : [{ node, as: 'summary' }];
}

function isEnabled(node: SectionNode, rendering: Rendering): boolean {
  const { enabled = true } = node.section;
  if (typeof enabled === 'boolean') return enabled;
  const answer = ask(node, 'enabled', enabled, rendering);
  // A promise would count as true.
  if (typeof answer === 'boolean') return answer;
  throw new PromptRenderError(node.path, `enabled must give true or false, not ${describe(answer)}.`);
}

function visibilityOf(node: SectionNode, rendering: Rendering): Visibility {
  const { visibility = 'full' } = node.section;
  const answer = typeof visibility === 'function' ? ask(node, 'visibility', visibility, rendering) : visibility;
  if (answer !== 'full' && answer !== 'summary') {
    throw new PromptRenderError(node.path, `visibility must give 'full' or 'summary', not ${describe(answer)}.`);
  }
  return rendering.opened.has(node.path) ? 'full' : answer;
}

function ask(
  node: SectionNode,
  field: string,
  predicate: (ctx: SectionContext) => unknown,
  rendering: Rendering,
): unknown {
  // Invalid params are no error yet: the predicate may exist to leave the section out in exactly that case.
  const read = node.params.read(rendering.params);
  const params = read.ok ? { ...rendering.params, ...read.values } : rendering.params;
  try {
    return predicate({ session: rendering.session, params });
  } catch (cause) {
    throw new PromptRenderError(node.path, `${field} threw ${errorText(cause)}`, { cause });
  }
}

function describe(answer: unknown): string {
  if (typeof answer === 'string') return JSON.stringify(answer);
  return answer instanceof Promise ? 'a promise' : String(typeof answer);
}
