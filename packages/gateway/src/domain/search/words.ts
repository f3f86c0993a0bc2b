/** A word of a text, and where it is in it. */
export interface Word {
  /** In lower case and without accents, as it is compared. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Longer words, e.g. encoded files, are found by their beginning. */
const MOST_LETTERS = 100;

const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
/** Languages that write no spaces between words: each character is a word, and several in a row are a phrase. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const UNSPACED_OR_REST = new RegExp(`${UNSPACED.source}|(?:(?!${UNSPACED.source}).)+`, 'gsu');
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** The words of a text, in order: letters and digits in a row, whatever is between them. Both databases get the same words. */
export function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(LETTERS)) {
    const [letters] = match;
    if (ASCII.test(letters)) addWord(words, letters.toLowerCase(), match.index, letters.length);
    else if (!UNSPACED.test(letters)) addWord(words, fold(letters), match.index, letters.length);
    else
      for (const part of letters.matchAll(UNSPACED_OR_REST))
        addWord(words, fold(part[0]), match.index + part.index, part[0].length);
  }
  return words;
}

function addWord(words: Word[], folded: string, start: number, length: number): void {
  const word = folded.length > MOST_LETTERS ? folded.slice(0, MOST_LETTERS).toWellFormed() : folded;
  if (word !== '') words.push({ word, start, end: start + length });
}

function fold(letters: string): string {
  return letters
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** What a text has to contain: these words, one directly after the other. */
export interface Term {
  readonly words: readonly string[];
  /** The last word may go on. */
  readonly isPrefix: boolean;
}

/** A prefix of one letter would match a large part of all words. */
const LEAST_PREFIX = 2;
const MOST_TERMS = 20;

/**
 * Reads what a person searches for: words, "phrases" and prefix*. All terms have to occur. Every text is a valid query: other characters
 * separate words, and a quotation mark without a partner closes at the end.
 */
export function toTerms(query: string): readonly Term[] {
  const terms: Term[] = [];
  for (const [, phrase, word = ''] of query.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const words = wordsOf(phrase ?? word).map((one) => one.word);
    const last = words.at(-1);
    if (last === undefined) continue;
    const isPrefix = phrase === undefined && word.endsWith('*') && [...last].length >= LEAST_PREFIX;
    terms.push({ words, isPrefix });
    if (terms.length === MOST_TERMS) break;
  }
  return terms;
}
