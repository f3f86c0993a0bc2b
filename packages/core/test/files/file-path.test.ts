import { describe, expect, test } from 'vitest';
import type { FilesystemError } from '../../src/errors.ts';
import { normalisePath } from '../../src/files/file-path.ts';

describe('[T33] a path', () => {
  test.each([
    ['', ''],
    ['/', ''],
    ['.', ''],
    ['a/..', ''],
    ['/a/b', 'a/b'],
    ['./a/./b/', 'a/b'],
    ['a//b///', 'a/b'],
    ['a/../b', 'b'],
    ['a b/...', 'a b/...'],
    ['ünïcödé/日本', 'ünïcödé/日本'],
  ])('%j is one with %j', (given, path) => {
    expect(normalisePath(given)).toBe(path);
  });

  test.each([['..'], ['../a'], ['a/../../b'], ['/../etc/passwd'], ['a/b/../../..']])(
    '%j leads out of the root',
    (path) => {
      expect(codeOf(() => normalisePath(path))).toBe('outside_root');
    },
  );

  test.each([['a\0b'], ['a\nb'], ['a\x7f'], ['a\\b'], ['..\\..\\a'], ['a/ /b'], ['\u3000'], ['\ud800']])(
    '%j is refused',
    (path) => {
      expect(codeOf(() => normalisePath(path))).toBe('bad_path');
    },
  );

  test.each([
    ['a name of 255 bytes', `${'é'.repeat(127)}e`, 'é'.repeat(128), '255 bytes'],
    ['a path of 1,024 bytes', `${'a'.repeat(255)}/`.repeat(4), `${`${'a'.repeat(255)}/`.repeat(4)}b`, '1024 bytes'],
    ['a depth of 64 names', 'a/'.repeat(64), 'a/'.repeat(65), '64 names'],
  ])('of %s is accepted, and one more is refused, naming the limit', (_, longest, over, limit) => {
    expect(normalisePath(longest)).toBe(longest.replace(/\/$/, ''));
    expect(() => normalisePath(over)).toThrow(limit);
    expect(codeOf(() => normalisePath(over))).toBe('bad_path');
  });

  test('is measured after it was normalised', () => {
    expect(normalisePath(`${'x/../'.repeat(1000)}a`)).toBe('a');
  });

  test('is checked against the given limits', () => {
    expect(codeOf(() => normalisePath('abc', { nameBytes: 2 }))).toBe('bad_path');
    expect(codeOf(() => normalisePath('a/b', { depth: 1 }))).toBe('bad_path');
    expect(codeOf(() => normalisePath('a/b', { pathBytes: 2 }))).toBe('bad_path');
  });

  test.each([[undefined], [null], [7], [{}], [Symbol('a')], [['a']]])('that is %s has a clear error', (path) => {
    expect(() => normalisePath(path as unknown as string)).toThrow(/a path is a string/);
  });

  test('of a megabyte is not repeated in the message', () => {
    expect(() => normalisePath('a'.repeat(1_000_000))).toThrow(/^.{0,300}$/);
  });
});

function codeOf(operation: () => unknown): string {
  try {
    operation();
    return 'done';
  } catch (error) {
    return (error as FilesystemError).code;
  }
}
