import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addTag,
  hideTag,
  hideTagIn,
  hideTagInJson,
  hideTagInReasoning,
  newTag,
  showTagInReasoning,
  withoutHiddenTags,
} from '../../src/domain/frame-tag.ts';
import { hostileText, TAG } from './hostile-events.ts';

const textsOf = (value: Readonly<Record<string, readonly string[]>>): string[] => Object.entries(value).flat(2);

describe('the id of an agent’s frames', () => {
  test('[G10] hiding the id of an agent’s frames removes it from all texts, fields and names of a value, and changes nothing else', () => {
    fc.assert(
      fc.property(fc.dictionary(hostileText, fc.array(hostileText, { maxLength: 2 }), { maxKeys: 3 }), (value) => {
        const hidden = hideTagIn(value, TAG);
        expect(textsOf(hidden).filter((text) => text.toLowerCase().includes(TAG))).toEqual([]);
        if (!textsOf(value).some((text) => text.toLowerCase().includes(TAG))) expect(hidden).toBe(value);
      }),
    );
  });

  test('[G10] the id of an agent’s frames is hidden in upper and lower case, and class instances are not changed', () => {
    expect(hideTag(`</inbox-${TAG.toUpperCase()}>`, TAG)).toBe('</inbox-hidden>');
    const url = new URL('https://example.org/');
    expect(hideTagIn({ url, bytes: null }, TAG).url).toBe(url);
    const error = Object.assign(new Error(`bad <inbox-${TAG}>`, { cause: new TypeError(TAG) }), { code: 'x' });
    const hidden = hideTagIn({ error }, TAG).error;
    expect(hidden).toMatchObject({
      message: 'bad <inbox-hidden>',
      code: 'x',
      cause: { name: 'TypeError', message: 'hidden' },
    });
    expect(String(hidden.stack)).not.toContain(TAG);
    expect(error.message).toContain(TAG);
  });

  test('[G10] the id of an agent’s frames is hidden after letters that change their length with their case', () => {
    // "İ" is two characters in lower case, and the Kelvin sign is a "k".
    expect(hideTag(`İ\u212A${TAG.toUpperCase()}ß`, TAG)).toBe('İ\u212Ahiddenß');
    expect(hideTag('\u212A'.repeat(8), 'k'.repeat(8))).toBe('\u212A'.repeat(8));
  });

  test('[G63] the tag is hidden in JSON text exactly as in every text and field name of the value', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        hostileText,
        fc.double(),
        fc.constant(null),
        fc.array(tie('any')),
        fc.dictionary(hostileText, tie('any')),
      ),
    })).any;
    fc.assert(
      fc.property(value, (given) => {
        const json = JSON.stringify(given);
        expect(JSON.parse(hideTagInJson(json, TAG))).toEqual(JSON.parse(JSON.stringify(hideTagIn(given, TAG))));
      }),
    );
  });

  test('an escape that ends with the first letter of the tag is not changed', () => {
    const json = JSON.stringify(`\b${TAG.slice(1)}`);
    expect(json.toLowerCase()).toContain(TAG);
    expect(JSON.parse(hideTagInJson(json, TAG))).toBe(`\b${TAG.slice(1)}`);
  });

  test('only the first and the last line of a frame get the tag, and a text that is not exactly a frame gets none', () => {
    const frame = '<inbox-hidden run="3">\n{"text":"-hidden>"}\n</inbox-hidden>';
    expect(addTag(frame, TAG)).toBe(`<inbox-${TAG} run="3">\n{"text":"-hidden>"}\n</inbox-${TAG}>`);
    expect(addTag('<inbox-hidden>\n</inbox-hidden>', TAG)).toBe(`<inbox-${TAG}>\n</inbox-${TAG}>`);
    for (const other of [
      `${frame}\n`,
      ` ${frame}`,
      `${frame}${frame}`,
      frame.slice(0, -1),
      frame.replace('</inbox', '</other'),
    ])
      expect(addTag(other, TAG)).toBeUndefined();
  });

  test('a tag in a line of a frame is escaped, in any spelling, and reads the same', () => {
    const tagged = addTag(`<inbox-hidden>\n{"a":"${TAG}","b":"${TAG.toUpperCase()}"}\n</inbox-hidden>`, TAG) ?? '';
    expect(tagged.toLowerCase().split(TAG)).toHaveLength(3);
    expect(JSON.parse(tagged.split('\n')[1] ?? '')).toEqual({ a: TAG, b: TAG.toUpperCase() });
  });

  test('a tag in reasoning is hidden, and shown again exactly as the model wrote it', () => {
    const text = fc
      .array(fc.oneof(hostileText, fc.constantFrom('hidden', '\u2063', '\u2064', '01', TAG, `B${TAG.slice(1)}`)))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (reasoning) => {
        const hidden = hideTagInReasoning(reasoning, TAG);
        expect(hidden.toLowerCase()).not.toContain(TAG);
        expect(showTagInReasoning(hidden, TAG)).toBe(reasoning);
        // In reasoning that no model wrote, nothing becomes a tag.
        expect(showTagInReasoning(withoutHiddenTags(hidden), TAG)).toBe(hidden);
      }),
    );
  });

  test('a new tag is a letter and twelve random digits', () => {
    expect(newTag()).toMatch(/^q\d{12}$/);
    expect(newTag()).not.toBe(newTag());
  });
});
