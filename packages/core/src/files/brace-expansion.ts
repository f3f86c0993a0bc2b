import { FilesystemError } from '../errors.ts';

/** Every pair of braces multiplies the patterns: ten of them are already a thousand. */
const MAX_ALTERNATIVES = 256;

/** `x{a,b}` → `xa`, `xb`, nested too. Braces without a partner or a comma stand for themselves, as in `{{name}}`. */
export function expandBraces(pattern: string): string[] {
  const expanded: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const alternatives = expandFirst(next);
    if (alternatives) pending.push(...alternatives);
    else expanded.push(next);
    if (expanded.length + pending.length > MAX_ALTERNATIVES) {
      throw new FilesystemError('bad_path', pattern, `has over ${MAX_ALTERNATIVES} alternatives in its braces.`);
    }
  }
  return expanded;
}

function expandFirst(pattern: string): string[] | undefined {
  for (let open = pattern.indexOf('{'); open !== -1; open = pattern.indexOf('{', open + 1)) {
    const group = readGroup(pattern, open);
    if (group && group.alternatives.length > 1) {
      const [before, after] = [pattern.slice(0, open), pattern.slice(group.end)];
      return group.alternatives.map((each) => before + each + after);
    }
  }
  return undefined;
}

function readGroup(pattern: string, open: number): { alternatives: string[]; end: number } | undefined {
  const alternatives: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let at = open; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (depth === 0 || (depth === 1 && character === ',')) {
      alternatives.push(pattern.slice(start, at));
      start = at + 1;
    }
    if (depth === 0) return { alternatives, end: start };
  }
  return undefined;
}
