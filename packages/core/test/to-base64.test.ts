import { expect, test } from 'vitest';
import { toBase64 } from '../src/to-base64.ts';

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 31) % 256);

test.each([0, 1, 2, 3, 4, 8_189, 8_190, 8_191, 8_192, 24_570, 100_000])(
  '%i bytes are the base64 that others write',
  (length) => {
    expect(toBase64(bytesOf(length))).toBe(Buffer.from(bytesOf(length)).toString('base64'));
  },
);

test('a part of a larger buffer is encoded alone', () => {
  expect(toBase64(bytesOf(30_000).subarray(7, 20_000))).toBe(
    Buffer.from(bytesOf(30_000).subarray(7, 20_000)).toString('base64'),
  );
});

test('a text is base64 already', () => {
  expect(toBase64('AQID')).toBe('AQID');
});
