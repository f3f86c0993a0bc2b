import { type Term, type Word, wordsOf } from './words.ts';

/** A part of a text, as it is shown with a result. */
export interface SnippetPart {
  readonly text: string;
  /** True if it is what was searched for. */
  readonly isMatch?: true;
}

const BEFORE = 60;
const LENGTH = 240;

/**
 * The part of the text around the first match. Undefined if the text does not contain all terms. Matches outside of that part are not looked
 * for: a text may have as many as it has words.
 */
export function snippetOf(text: string, terms: readonly Term[]): readonly SnippetPart[] | undefined {
  const words = wordsOf(text);
  const firsts = terms.map((term) => words.findIndex((_word, index) => isAt(words, index, term)));
  if (firsts.includes(-1)) return undefined;
  const first = words[Math.min(...firsts)]?.start ?? 0;
  const start = wordStart(words, Math.max(0, first - BEFORE), first);
  const end = Math.min(text.length, start + LENGTH);
  return parts(text, { start, end }, matchesIn(words, terms, { start, end }));
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The matches that begin in a part of the text, in order. */
function matchesIn(words: readonly Word[], terms: readonly Term[], { start, end }: Range): readonly Range[] {
  const from = words.findIndex((word) => word.start >= start);
  const matches: Range[] = [];
  for (let index = Math.max(from, 0); (words[index]?.start ?? end) < end; index++)
    for (const term of terms)
      if (isAt(words, index, term))
        matches.push({ start: words[index]?.start ?? 0, end: words[index + term.words.length - 1]?.end ?? end });
  return matches;
}

/** True if the words from this one on are those of the term. */
function isAt(words: readonly Word[], index: number, { words: wanted, isPrefix }: Term): boolean {
  const last = wanted.length - 1;
  return wanted.every((want, at) => {
    const word = words[index + at]?.word;
    return at === last && isPrefix ? word?.startsWith(want) === true : word === want;
  });
}

/** No word is cut at the beginning. */
function wordStart(words: readonly Word[], from: number, first: number): number {
  return from === 0 ? 0 : (words.find(({ start }) => start >= from)?.start ?? first);
}

function parts(text: string, { start, end }: Range, matches: readonly Range[]): readonly SnippetPart[] {
  const shown: SnippetPart[] = start > 0 ? [{ text: '… ' }] : [];
  const add = (from: number, to: number, isMatch: boolean): void => {
    const piece = text.slice(from, to).toWellFormed();
    if (piece !== '') shown.push(isMatch ? { text: piece, isMatch: true } : { text: piece });
  };
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.start >= end) continue;
    add(at, match.start, false);
    at = Math.min(match.end, end);
    add(match.start, at, true);
  }
  add(at, end, false);
  if (end < text.length) shown.push({ text: ' …' });
  return shown;
}
