import { closestNames } from '../closest-names.ts';
import { ToolDefinitionError, ToolSetError } from '../errors.ts';
import type { AiSdkTool } from './ai-sdk-tool.ts';
import type { AnyTool } from './any-tool.ts';
import { nameProblem } from './tool-name.ts';

/** Tools by name: the name is the key. Objects made by the AI SDK's `tool()` work unchanged. */
export type ToolSet = Readonly<Record<string, AnyTool | AiSdkTool>>;

// A set is checked once. Tools are looked up in it each time, so a tool added later is found.
const checkedSets = new WeakSet<object>();

/** Throws if the value cannot be a tool set: an array, a name that providers refuse, a value that is not a tool. */
export function assertToolSet(set: unknown, what: string = 'A tool set'): asserts set is ToolSet {
  if (typeof set !== 'object' || set === null || Array.isArray(set)) {
    const got = Array.isArray(set) ? 'an array' : set === null ? 'null' : typeof set;
    throw new ToolSetError(`${what} must be an object of tools by name, not ${got}: { search: tool({ … }) }.`);
  }
  if (checkedSets.has(set)) return;
  if (typeof (set as { then?: unknown }).then === 'function') {
    throw new ToolSetError(`${what} must be an object of tools by name, not a promise of one: await it first.`);
  }
  for (const [name, one] of Object.entries(set)) assertEntry(name, one);
  checkedSets.add(set);
}

/** Merges several sets into one. A name that occurs twice throws. */
export function mergeToolSets(...sets: readonly ToolSet[]): ToolSet {
  const merged: Record<string, AnyTool | AiSdkTool> = {};
  for (const set of sets) {
    assertToolSet(set);
    for (const [name, one] of Object.entries(set)) {
      if (Object.hasOwn(merged, name))
        throw new ToolSetError(`Two tools are named "${name}". Rename one, or leave one out.`);
      merged[name] = one;
    }
  }
  return merged;
}

/** Keeps only the named tools, or all others. A name that is not in the set throws, because it is a mistake. */
export function filterToolSet(set: ToolSet, mode: 'include' | 'exclude', names: readonly string[]): ToolSet {
  assertToolSet(set);
  if (mode !== 'include' && mode !== 'exclude')
    throw new ToolSetError(`filterToolSet: the mode is 'include' or 'exclude', not ${JSON.stringify(mode)}.`);
  for (const name of names) if (!Object.hasOwn(set, name)) throw new ToolSetError(missing(name, set));
  const wanted = new Set(names);
  return Object.fromEntries(Object.entries(set).filter(([name]) => wanted.has(name) === (mode === 'include')));
}

export function missing(name: string, set: ToolSet): string {
  const close = closestNames(name, Object.keys(set));
  return `There is no tool "${name}"${close.length === 0 ? '' : `; did you mean ${close.map((one) => `"${one}"`).join(' or ')}?`}`;
}

function assertEntry(name: string, one: unknown): void {
  const problem = nameProblem(name);
  if (problem !== undefined) throw new ToolDefinitionError(name, 'name', `${problem}.`);
  if (typeof one !== 'object' || one === null)
    throw new ToolSetError(`"${name}" is not a tool but ${one === null ? 'null' : typeof one}.`);
  const own = (one as { name?: unknown }).name;
  if (own !== undefined && own !== name) {
    throw new ToolDefinitionError(
      name,
      'name',
      `must equal its key in the tool set, and it is ${JSON.stringify(own)}.`,
    );
  }
}
