import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePathPattern } from '../../src/files/path-pattern.ts';

test.each([
  ['*', 'a.ts', true],
  ['*', 'a/b.ts', false],
  ['*', '.env', true],
  ['**', 'a/b/.c', true],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'a/.b/c.ts', true],
  ['**/*.ts', 'a.tsx', false],
  ['src/**/x', 'src/x', true],
  ['src/**/x', 'src/a/b/x', true],
  ['src/**/x', 'srcx', false],
  ['src/**', 'src/a', true],
  ['src/**', 'srca', false],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['a?c', 'a😀c', true],
  ['a?c', 'ac', false],
  ['*a*b', 'xaxaxb', true],
  ['**/a/**/b/c', 'a/b/a/b/c', true],
  ['**/a/**/b/c', 'a/b/a/b/d', false],
  ['*.{ts,js}', 'a.js', true],
  ['*.{ts,js}', 'a.css', false],
  ['{a,b/{c,d}}/e', 'b/d/e', true],
  ['{a,b/{c,d}}/e', 'b/e', false],
  ['a{,.b}', 'a', true],
  ['{{name}}/x', '{{name}}/x', true],
  ['{a', '{a', true],
  ['[slug].(x)!+@$^|', '[slug].(x)!+@$^|', true],
  ['[ab]', 'a', false],
  ['./a//b/', 'a/b', true],
  ['/a', 'a', true],
])('the pattern %j, asked for %j, answers %s', (pattern, path, answer) => {
  expect(parsePathPattern(pattern).matches(path)).toBe(answer);
});

test.each([
  ['src/lib/*.ts', 'src/lib'],
  ['src/a.ts', 'src'],
  ['a.ts', ''],
  ['**/src', ''],
  ['src/{a/b,c}/d', 'src'],
])('the matches of %j are all below %j', (pattern, base) => {
  expect(parsePathPattern(pattern).base).toBe(base);
});

test('every match of a pattern is inside its base', () => {
  const name = fc.stringMatching(/^[ab*?]{1,3}$|^\*\*$|^\{a,b\/a\}$/);
  const path = fc.array(fc.stringMatching(/^[ab]{1,3}$/), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), path, (pattern, names) => {
      const { base, matches } = parsePathPattern(pattern.join('/'));
      fc.pre(matches(names.join('/')));
      expect(`${names.join('/')}/`.startsWith(base === '' ? '' : `${base}/`)).toBe(true);
    }),
  );
});

test('a pattern matches the same paths as the equivalent regular expression', () => {
  const name = fc.stringMatching(/^[ab*?]{1,4}$/);
  const path = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(fc.oneof(name, fc.constant('**')), { minLength: 1, maxLength: 4 }), path, (pattern, names) => {
      const expected = pattern.map((each) => (each === '**' ? '(?:[^/]+/)*' : `${toExpression(each)}/`)).join('');
      const answer = new RegExp(`^${expected}$`).test(`${names.join('/')}/`);
      expect(parsePathPattern(pattern.join('/')).matches(names.join('/'))).toBe(answer);
    }),
    { numRuns: 500 },
  );
});

test('a hostile pattern is matched at once', () => {
  const name = 'a'.repeat(255);
  expect(parsePathPattern(`${'*a'.repeat(100)}*b`).matches(name)).toBe(false);
  expect(parsePathPattern(`${'**/a/'.repeat(60)}b`).matches(`${'a/'.repeat(63)}a`)).toBe(false);
});

test.each([['{a,b}'.repeat(9)], ['x'.repeat(3000)], [''], [' '], ['a\\b'], [7 as unknown as string]])(
  'the pattern %j is refused',
  (pattern) => {
    expect(() => parsePathPattern(pattern)).toThrow(expect.objectContaining({ code: 'bad_path' }));
  },
);

test.each([['../*'], ['a/../*'], ['{..,a}/x']])('[T33] the pattern %j does not leave the root', (pattern) => {
  expect(() => parsePathPattern(pattern)).toThrow(expect.objectContaining({ code: 'outside_root' }));
});

function toExpression(name: string): string {
  return name.replaceAll(/\*+/g, '[^/]*').replaceAll('?', '[^/]');
}
