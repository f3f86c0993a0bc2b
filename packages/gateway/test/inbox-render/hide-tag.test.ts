import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hideFrameIds, hideTag, hideTagIn } from '../../src/telemetry/hide-tag.ts';
import { hostileText, TAG } from './hostile-events.ts';

const textsOf = (value: Readonly<Record<string, readonly string[]>>): string[] => Object.entries(value).flat(2);

describe('the id of an agent’s frames', () => {
  test('[G10] the id of an agent’s frames is in no text, field or name of a value once it is hidden, and nothing else is changed', () => {
    fc.assert(
      fc.property(fc.dictionary(hostileText, fc.array(hostileText, { maxLength: 2 }), { maxKeys: 3 }), (value) => {
        const hidden = hideTagIn(value, TAG);
        expect(textsOf(hidden).filter((text) => text.toLowerCase().includes(TAG))).toEqual([]);
        if (!textsOf(value).some((text) => text.toLowerCase().includes(TAG))) expect(hidden).toBe(value);
      }),
    );
  });

  test('[G10] the id of an agent’s frames is hidden in any case, and what has a class of its own is left alone', () => {
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

  test('[G10] the id of an agent’s frames is hidden behind letters that change their length with their case', () => {
    // "İ" is two characters in lower case, and the Kelvin sign is a "k".
    expect(hideTag(`İ\u212A${TAG.toUpperCase()}ß`, TAG)).toBe('İ\u212Ahiddenß');
    expect(hideTag('\u212A'.repeat(8), 'k'.repeat(8))).toBe('\u212A'.repeat(8));
  });

  test('[G63] the id of an agent’s frames is hidden wherever the name of a frame stands before it, whichever agent’s it is', () => {
    expect(hideFrameIds(`bad prompt: <inbox-${TAG} run="1"> and </situation-${TAG.toUpperCase()}>`)).toBe(
      'bad prompt: <inbox-hidden run="1"> and </situation-hidden>',
    );
    expect(hideFrameIds('inbox-zero and summary-2026')).toBe('inbox-zero and summary-2026');
  });
});
