import { closestNames } from '../closest-names.ts';
import { ToolDefinitionError, ToolSetError } from '../errors.ts';
import type { AiSdkTool } from './ai-sdk-tool.ts';
import type { AnyTool } from './any-tool.ts';
import { TOOL } from './tool-mark.ts';
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
  const problem = mistakenFor(set);
  if (problem !== undefined) throw new ToolSetError(`${what} must be an object of tools by name, ${problem}`);
  for (const [name, one] of Object.entries(set)) assertEntry(name, one);
  checkedSets.add(set);
}

/** What else was given in place of a tool set, and how to give it. */
function mistakenFor(set: object): string | undefined {
  if (isTool(set) && typeof (set as AnyTool).inputSchema === 'object') return 'not one tool: { search: tool({ … }) }.';
  if (set instanceof Map) return 'not a Map: Object.fromEntries(map) makes one of it.';
  if (
    typeof (set as { render?: unknown }).render === 'function' &&
    Array.isArray((set as { sections?: unknown }).sections)
  )
    return 'not a prompt: give that as instructions, and it brings its tools.';
  return undefined;
}

/** Tools made by the AI SDK have no mark, and may have any of these fields. */
function isTool(one: object): boolean {
  const { type } = one as { readonly type?: unknown };
  return TOOL in one || type === 'provider' || type === 'provider-defined' || FIELDS.some((field) => field in one);
}

const FIELDS = ['inputSchema', 'execute', 'outputSchema', 'toModelOutput'];

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
  if (!isTool(one))
    throw new ToolSetError(`"${name}" is not a tool. Make it with tool({ … }) and give { ${name}: tool }.`);
  const own = (one as { name?: unknown }).name;
  if (own !== undefined && own !== name) {
    throw new ToolDefinitionError(
      name,
      'name',
      `must equal its key in the tool set, and it is ${JSON.stringify(own)}.`,
    );
  }
}
