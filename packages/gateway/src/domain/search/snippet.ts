import { type Term, type Word, wordsOf } from './words.ts';

/** A part of a text, as it is shown with a result. */
export interface SnippetPart {
  readonly text: string;
  /** True if it is what was searched for. */
  readonly isMatch?: true;
}

const BEFORE = 60;
const LENGTH = 240;

/** The part of the text around the first match. Undefined if the text does not contain all terms. */
export function snippetOf(text: string, terms: readonly Term[]): readonly SnippetPart[] | undefined {
  const words = wordsOf(text);
  const found = terms.map((term) => matchesOf(words, term));
  if (found.some((matches) => matches.length === 0)) return undefined;
  const matches = found.flat().sort((one, other) => one.start - other.start);
  const first = matches[0]?.start ?? 0;
  const start = wordStart(words, Math.max(0, first - BEFORE), first);
  const end = Math.min(text.length, start + LENGTH);
  return parts(text, { start, end }, matches);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function matchesOf(words: readonly Word[], { words: wanted, isPrefix }: Term): readonly Range[] {
  const last = wanted.length - 1;
  const isMatch = (word: string, at: number): boolean => {
    const want = wanted[at] ?? '';
    return at === last && isPrefix ? word.startsWith(want) : word === want;
  };
  return words.flatMap(({ start }, index) => {
    const run = words.slice(index, index + wanted.length);
    const end = run.at(-1)?.end;
    return run.length === wanted.length && end !== undefined && run.every(({ word }, at) => isMatch(word, at))
      ? [{ start, end }]
      : [];
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
