import { OptionsError } from '../errors.ts';
import type { FileMatch } from './filesystem.ts';

const DEFAULT_MATCH_LIMIT = 1000;

export interface LineSearch {
  readonly pattern: string | RegExp;
  readonly limit: number | undefined;
  /** The files to search. Matches come in their order. */
  readonly paths: readonly string[];
  /** `undefined` for a file that is skipped: gone, too large, not text. */
  read(path: string): Promise<string | undefined>;
}

/** The lines that match, in order of path and line, until the limit is reached. */
export async function matchLines(search: LineSearch): Promise<FileMatch[]> {
  const limit = checkedLimit(search.limit);
  const isMatch = toLineTest(search.pattern);
  const found: FileMatch[] = [];
  for (const path of search.paths) {
    if (found.length >= limit) break;
    const text = await search.read(path);
    if (text !== undefined && !isBinary(text)) addMatches(found, path, text, { isMatch, limit });
  }
  return found;
}

function addMatches(
  found: FileMatch[],
  path: string,
  text: string,
  { isMatch, limit }: { isMatch: (line: string) => boolean; limit: number },
): void {
  for (const [index, line] of linesOf(text).entries()) {
    if (found.length >= limit) return;
    if (isMatch(line)) found.push({ path, line: index + 1, text: line });
  }
}

/** The end of the last line does not start another one. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function toLineTest(pattern: string | RegExp): (line: string) => boolean {
  if (typeof pattern === 'string') return (line) => line.includes(pattern);
  if (!(pattern instanceof RegExp)) throw new OptionsError('pattern', 'must be a text or a regular expression.');
  // A copy, reset for each line: with the flags g and y an expression remembers where it stopped.
  const copy = new RegExp(pattern);
  return (line) => {
    copy.lastIndex = 0;
    return copy.test(line);
  };
}

function isBinary(text: string): boolean {
  return text.includes('\0');
}

function checkedLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_MATCH_LIMIT;
  if (limit >= 1) return limit;
  throw new OptionsError('limit', `must be a number of at least 1, not ${limit}.`);
}
