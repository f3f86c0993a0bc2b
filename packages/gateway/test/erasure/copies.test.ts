import { describe, expect, test } from 'vitest';
import { Copies } from '../../src/domain/erasure/copies.ts';

const copiesOf = (...texts: string[]): Copies => {
  const copies = new Copies();
  for (const text of texts) copies.add(text);
  return copies;
};

describe('copies of erased texts', () => {
  test('[O3] six words in a row are found in any case and punctuation, and the text around them stays', () => {
    const copies = copiesOf('My grandmother kept eleven blue parrots behind the harbour wall.');
    expect(copies.redact('She said: GRANDMOTHER kept, eleven blue parrots behind it all.')).toBe(
      'She said: [erased] it all.',
    );
    expect(copies.redact('My grandmother kept a parrot.')).toBe('My grandmother kept a parrot.');
  });

  test('[O3] addresses, numbers and codes are found on their own, with any separators', () => {
    const copies = copiesOf('Write to ada@example.com or call 030-1234567, code zx-81-plant.');
    expect(copies.redact('ada@example.com; 030-1234567; zx-81-plant')).toBe('[erased]; [erased]; [erased]');
    expect(copies.redact('key: code_zx-81_plant')).toBe('key: code_[erased]');
    expect(copies.redact('Write to call code.')).toBe('Write to call code.');
  });

  test('[O3] JSON stays valid: in nested strings, in keys, and if a number is a copy', () => {
    const copies = copiesOf('Call 1234567890 now,\nmy "dear" friend with eleven blue parrots');
    const nested = JSON.stringify({
      text: JSON.stringify({ line: 'x friend with eleven blue parrots\nCall 1234567890' }),
    });
    expect(JSON.parse(JSON.parse(copies.redactJson(nested)).text).line).toBe(
      'x friend with eleven blue parrots\nCall [erased]',
    );
    expect(copies.redactJson('{"n":1234567890,"m":5}')).toBe('{"n":null,"m":5}');
  });

  test('[O3] texts of the person are found by their id, however short they are', () => {
    const copies = new Copies({ authorId: 'ada-id', names: ['Ada Byron', 'Ada'] });
    const event = JSON.stringify({ message: { entityId: 'ada-id', text: 'ok', seq: 3 }, by: 'Ada Byron wrote to Ada' });
    expect(JSON.parse(copies.redactJson(event))).toEqual({
      message: { entityId: 'ada-id', text: '[erased]', seq: 3 },
      by: '[erased] wrote to Ada',
    });
    const other = JSON.stringify({ message: { entityId: 'ben-id', text: 'ok' } });
    expect(copies.redactJson(other)).toBe(other);
  });

  test('text without copies is unchanged', () => {
    const text = 'Nothing of it is here, and nobody said it.';
    expect(copiesOf('Something else entirely was said by them there').redact(text)).toBe(text);
    expect(new Copies().redact(text)).toBe(text);
  });
});
