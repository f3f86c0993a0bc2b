import { BUILT_IN_TOOLS } from './built-in-groups.ts';

const { outputs: _outputs, ...ofAgents } = BUILT_IN_TOOLS;

/** The tools with which agents act. They cannot be overridden. */
export const BUILT_IN_TOOL_NAMES: readonly string[] = Object.values(ofAgents).flat();

const RESERVED: ReadonlySet<string> = new Set(Object.values(BUILT_IN_TOOLS).flat());

export function isReservedToolName(name: string): boolean {
  return RESERVED.has(name);
}

/**
 * Returns what is wrong with a tool's name, or undefined: the rules of core's tool sets apply, and built-in names are
 * reserved.
 */
export function toolNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return 'must be 1–64 characters of A–Z, a–z, 0–9, "_" and "-".';
  if (/^\d+$/.test(name)) return 'must not be digits alone.';
  if (name === '__proto__') return 'must not be "__proto__".';
  return isReservedToolName(name)
    ? `must not be "${name}": every agent has a built-in tool of that name. Choose another.`
    : undefined;
}
