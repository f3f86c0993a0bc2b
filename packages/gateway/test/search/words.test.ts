import { describe, expect, test } from 'vitest';
import { snippetOf } from '../../src/domain/search/snippet.ts';
import { toTerms, wordsOf } from '../../src/domain/search/words.ts';

const words = (text: string): readonly string[] => wordsOf(text).map(({ word }) => word);
const shown = (text: string, query: string): string | undefined =>
  snippetOf(text, toTerms(query))
    ?.map((part) => (part.isMatch ? `[${part.text}]` : part.text))
    .join('');

describe('a snippet', () => {
  test('[S27] cuts no character in two', () => {
    const parts = snippetOf(`octopus ${'a'.repeat(231)}😀 and more`, toTerms('octopus')) ?? [];
    expect(parts.length).toBeGreaterThan(1);
    for (const { text } of parts) expect(text.isWellFormed()).toBe(true);
  });
});

describe('words of a text', () => {
  test('[S27] are letters and digits in a row, in lower case and without accents, in every script', () => {
    expect(words('Crème brûlée, send_message(42) STRASSE')).toEqual([
      'creme',
      'brulee',
      'send',
      'message',
      '42',
      'strasse',
    ]);
    expect(words('Привет, Мир! שלום עולם')).toEqual(['привет', 'мир', 'שלום', 'עולם']);
    expect(words('東京タワー2へ')).toEqual(['東', '京', 'タ', 'ワ', 'ー', '2', 'へ']);
    expect(words(`\0 '"&|!:*()<-> = ; --`)).toEqual([]);
    expect(words('x'.repeat(5_000))).toEqual(['x'.repeat(100)]);
  });
});

describe('a query', () => {
  test('[S27] has words, phrases and prefixes, and every text is a query', () => {
    expect(toTerms('Ships "in the harbour" even*')).toEqual([
      { words: ['ships'], isPrefix: false },
      { words: ['in', 'the', 'harbour'], isPrefix: false },
      { words: ['even'], isPrefix: true },
    ]);
    // A name of several words is a phrase. A prefix has at least two letters.
    expect(toTerms('send_mess* a*')).toEqual([
      { words: ['send', 'mess'], isPrefix: true },
      { words: ['a'], isPrefix: false },
    ]);
    expect(toTerms('"never closed')).toEqual([{ words: ['never', 'closed'], isPrefix: false }]);
    for (const nothing of ['', '"', '***', 'AND OR'.toLowerCase().replace(/\w/g, ''), `' & | ! : <-> ()`])
      expect(toTerms(nothing)).toEqual([]);
    expect(toTerms('word '.repeat(500))).toHaveLength(20);
  });
});

describe('a snippet', () => {
  test('[S27] shows the text around the first match, with all matches in it', () => {
    expect(shown('The Ships in the harbour. Ships!', 'ships')).toBe('The [Ships] in the harbour. [Ships]!');
    expect(shown('The ships in the harbour.', '"in the" harb*')).toBe('The ships [in the] [harbour].');
    const long = shown(`${'before '.repeat(50)}the needle is here${' after'.repeat(100)}`, 'needle');
    expect(long).toMatch(/^… (before )+the \[needle\] is here( after)+/);
    expect(long?.length).toBeLessThan(260);
  });

  test('[S27] does not exist for a text that does not have all terms', () => {
    expect(shown('The ships in the harbour.', 'ships submarine')).toBeUndefined();
    expect(shown('The ships in the harbour.', '"harbour ships"')).toBeUndefined();
  });

  test('[S27] compares the phrases with few words of the text, however often it has them', () => {
    let compared = 0;
    const counted = (words: readonly string[]) =>
      new Proxy(words, {
        get(target, key, receiver) {
          if (/^\d+$/.test(String(key))) compared++;
          return Reflect.get(target, key, receiver);
        },
      });
    const terms = toTerms(`"${'a '.repeat(10)}" `.repeat(20)).map((term) => ({ ...term, words: counted(term.words) }));
    expect(snippetOf('a '.repeat(10_000), terms)).toBeDefined();
    // All of the words with all phrases would be two million.
    expect(compared).toBeLessThan(100_000);
  });
});
