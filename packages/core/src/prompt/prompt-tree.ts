import type { AiSdkTool } from '../contract/ai-sdk-tool.ts';
import type { AnyTool } from '../contract/any-tool.ts';
import { assertSection, isFullAlways, type Section, shownKey } from '../contract/section.ts';
import type { ToolSet } from '../contract/tool-set.ts';
import { PromptValidationError } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';
import { describeError } from '../results/describe-error.ts';
import type { AnySlice } from '../session/slice.ts';
import { resolveTool } from '../tools/resolved-tool.ts';
import { placeholdersOf } from './placeholders.ts';
import { RESERVED } from './reserved-names.ts';
import { compileParams, type SectionParams } from './section-params.ts';

/** A section at its place in a prompt, with everything that is the same at every rendering. */
export interface SectionNode {
  readonly section: Section;
  /** The keys from the top, joined by dots. */
  readonly path: string;
  /** 1 at the top. */
  readonly depth: number;
  readonly params: SectionParams;
  /**
   * Includes the policies of the sections around it. The same objects at each rendering, because caches go by identity.
   */
  readonly tools: ToolSet;
  /** The slices of the section, its policies and its tools. */
  readonly slices: readonly AnySlice[];
  readonly children: readonly SectionNode[];
}

/** What a level of the tree inherits from the levels above. */
interface Place {
  readonly parent: string | undefined;
  readonly depth: number;
  readonly policies: readonly Policy[];
  /** Where each tool name was seen, in the whole tree. */
  readonly seen: Map<string, string>;
}

/** Checks the sections and all below them. Throws a PromptValidationError that names the section's path. */
export function buildTree(sections: readonly Section[], policies: readonly Policy[]): readonly SectionNode[] {
  return buildLevel(sections, { parent: undefined, depth: 1, policies, seen: new Map() });
}

/** All nodes in reading order. */
export function nodesOf(roots: readonly SectionNode[]): readonly SectionNode[] {
  return roots.flatMap((node) => [node, ...nodesOf(node.children)]);
}

/** Whether a summary may ever be shown. If not, the open sections need not be tracked. */
export function mayBeSummarised(roots: readonly SectionNode[]): boolean {
  return nodesOf(roots).some(({ section }) => !isFullAlways(section.visibility));
}

/** A copy with policies before its own, or the same tool if there are none to add. */
export function withPolicies(tool: AnyTool | AiSdkTool, policies: readonly Policy[]): AnyTool | AiSdkTool {
  if (policies.length === 0) return tool;
  return Object.freeze({ ...tool, policies: [...policies, ...policiesOf(tool)] });
}

function buildLevel(sections: readonly Section[], place: Place): readonly SectionNode[] {
  const keys = new Set<string>();
  return sections.map((section) => {
    const path = place.parent === undefined ? shownKey(section) : `${place.parent}.${shownKey(section)}`;
    assertSection(section, path);
    assertKey(section.key, path);
    if (keys.has(section.key))
      throw new PromptValidationError(`Section "${path}": two siblings have this key. Rename one.`);
    keys.add(section.key);
    return buildNode(section, path, place);
  });
}

function buildNode(section: Section, path: string, place: Place): SectionNode {
  const params = readParams(section, path);
  assertPlaceholders(section, params, path);
  const policies = [...place.policies, ...(section.policies ?? [])];
  const tools = buildTools(section, path, policies, place.seen);
  const slices = [
    ...(section.slices ?? []),
    ...Object.values(tools).flatMap((tool) => (tool as Partial<AnyTool>).slices ?? []),
    ...policySlices([...policies, ...Object.values(tools).flatMap(policiesOf)]),
  ];
  const children = buildLevel(section.children ?? [], {
    parent: path,
    depth: place.depth + 1,
    policies,
    seen: place.seen,
  });
  return { section, path, depth: place.depth, params, tools, slices: [...new Set(slices)], children };
}

function assertKey(key: string, path: string): void {
  if (key === '' || key !== key.trim() || /[.\r\n]/.test(key)) {
    throw new PromptValidationError(
      `Section "${path}": a key is one line that is not empty, without a dot and without space around it.`,
    );
  }
}

function readParams(section: Section, path: string): SectionParams {
  try {
    return compileParams(section.params);
  } catch (cause) {
    throw new PromptValidationError(`Section "${path}": params cannot be used: ${describeError(cause).message}`, {
      cause,
    });
  }
}

function assertPlaceholders({ template, summary = '' }: Section, { names }: SectionParams, path: string): void {
  for (const text of [template, summary]) {
    if (typeof text !== 'string') continue;
    const unknown = [...placeholdersOf(text)].filter((name) => !names.has(name));
    if (unknown.length === 0) continue;
    const known = names.size === 0 ? 'It has no parameters.' : `Its parameters: ${[...names].join(', ')}.`;
    const shown = unknown.map((name) => `{{${name}}}`).join(', ');
    throw new PromptValidationError(
      `Section "${path}": no parameter for ${shown}. ${known} Write \\{{ for a literal {{.`,
    );
  }
}

function buildTools(section: Section, path: string, policies: readonly Policy[], seen: Place['seen']): ToolSet {
  const entries = Object.entries(section.tools ?? {}).map(([name, tool]) => {
    claimName(name, path, seen);
    assertTool(name, tool, path);
    return [name, withPolicies(tool, policies)] as const;
  });
  return Object.freeze(Object.fromEntries(entries));
}

function claimName(name: string, path: string, seen: Place['seen']): void {
  if (RESERVED.includes(name)) {
    throw new PromptValidationError(
      `Section "${path}": the tool name "${name}" is reserved. Reserved: ${RESERVED.join(', ')}.`,
    );
  }
  const other = seen.get(name);
  if (other !== undefined) {
    throw new PromptValidationError(
      `Section "${path}": the tool "${name}" is in section "${other}" already. Rename one, or leave one out.`,
    );
  }
  seen.set(name, path);
}

function assertTool(name: string, tool: AnyTool | AiSdkTool, path: string): void {
  try {
    resolveTool(name, tool);
  } catch (cause) {
    throw new PromptValidationError(`Section "${path}": ${describeError(cause).message}`, { cause });
  }
}

function policiesOf(tool: AnyTool | AiSdkTool): readonly Policy[] {
  return (tool as Partial<AnyTool>).policies ?? [];
}

function policySlices(policies: readonly Policy[]): readonly AnySlice[] {
  return policies.flatMap((policy) => policy.slices ?? []);
}
