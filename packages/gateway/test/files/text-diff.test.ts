import { expect, test } from 'vitest';
import { textDiff } from '../../src/domain/files/text-diff.ts';

const diff = (before: string, after: string, maxCharacters = 10_000) => textDiff(before, after, { maxCharacters });

test('equal texts have no difference', () => {
  expect(diff('a\nb', 'a\nb')).toBe('');
  expect(diff('', '')).toBe('');
});

test('lines that are far from a change are left out', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index + 1}`);
  const changed = lines.with(4, 'x').toSpliced(25, 1);
  expect(diff(lines.join('\n'), changed.join('\n'))).toBe(
    '@@ -3 +3 @@\n 3\n 4\n-5\n+x\n 6\n 7\n@@ -24 +24 @@\n 24\n 25\n-26\n 27\n 28',
  );
});

test('lines that were moved are shown as removed and added', () => {
  expect(diff('a\nb\nc', 'b\nc\na')).toBe('@@ -1 +1 @@\n-a\n b\n c\n+a');
});

test('a line that is repeated is shown as added or removed once', () => {
  expect(diff('a', 'a\na')).toBe('@@ -1 +1 @@\n a\n+a');
  expect(diff('a\nb\nb', 'a\nb')).toBe('@@ -1 +1 @@\n a\n b\n-b');
});

test('lines that do not fit are counted', () => {
  const text = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
  const shown = diff('', text, 50);
  expect(shown.length).toBeLessThan(80);
  expect(shown).toMatch(/… \d+ more lines$/);
});

test('texts with too many lines to compare are shown as replaced', () => {
  const many = (prefix: string) => Array.from({ length: 2_000 }, (_, index) => `${prefix}${index}`).join('\n');
  const shown = diff(many('a'), many('b'), 1_000_000).split('\n');
  expect(shown).toHaveLength(4_001);
  expect(shown[1]).toBe('-a0');
  expect(shown.at(-1)).toBe('+b1999');
});

test('a difference that just fits is shown whole', () => {
  const whole = diff('a\n', 'b\n');
  // Each line counts with its end.
  expect(diff('a\n', 'b\n', whole.length + 1)).toBe(whole);
  expect(diff('a\n', 'b\n', whole.length)).toContain('… 1 more line');
});
