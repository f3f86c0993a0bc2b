import { FilesystemError } from '../errors.ts';
import { expandBraces } from './brace-expansion.ts';
import { matchesWildcard, type WildcardParts } from './wildcard.ts';

export interface PathPattern {
  /** The directory that contains every match, so that a search need not look elsewhere. */
  readonly base: string;
  matches(path: string): boolean;
}

/** One character of a name; `any` is the `?`. */
type NamePart = { readonly any: true } | { readonly character: string };
type NamePattern = WildcardParts<NamePart>;

/** Longer than any path can be. */
const MAX_PATTERN_LENGTH = 2048;

/**
 * `**` crosses directories, `*` and `?` do not, `{a,b}` is either. Nothing else is special: brackets and parentheses are
 * common in names (`[slug].ts`), and so is a leading dot.
 */
export function parsePathPattern(pattern: string): PathPattern {
  assertPattern(pattern);
  const names = namesIn(pattern);
  const alternatives = expandBraces(names.join('/')).map((each) => namesIn(each).map(parseName));
  return {
    base: plainStart(names),
    matches(path) {
      const characters = path.split('/').map((name) => Array.from(name));
      return alternatives.some((parts) => matchesWildcard(parts, characters, matchesName));
    },
  };
}

function assertPattern(pattern: unknown): asserts pattern is string {
  if (typeof pattern !== 'string' || pattern.trim() === '') {
    throw new FilesystemError('bad_path', '', 'a pattern is a text like "src/**/*.ts".');
  }
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new FilesystemError('bad_path', `${pattern.slice(0, 40)}…`, `is over ${MAX_PATTERN_LENGTH} characters.`);
  }
  if (pattern.includes('\\')) throw new FilesystemError('bad_path', pattern, 'holds a backslash. Put / between names.');
}

function namesIn(pattern: string): string[] {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw new FilesystemError('outside_root', pattern, 'a pattern does not go up with "..".');
  return names;
}

function plainStart(names: readonly string[]): string {
  const first = names.findIndex((name) => /[*?{]/.test(name));
  return names.slice(0, first === -1 ? -1 : first).join('/');
}

function parseName(name: string): NamePattern | null {
  return name === '**' ? null : Array.from(name, parseCharacter);
}

function parseCharacter(character: string): NamePart | null {
  if (character === '*') return null;
  return character === '?' ? { any: true } : { character };
}

function matchesName(pattern: NamePattern, name: readonly string[]): boolean {
  return matchesWildcard(pattern, name, (part, character) => 'any' in part || part.character === character);
}
