import { expect, test } from 'vitest';
import { clip } from '../../src/domain/transcript/clip.ts';
import { fitLines } from '../../src/domain/transcript/fit-lines.ts';

const within = (characters: number) => (lines: readonly string[]) => lines.join('\n').length <= characters;
const lines = Array.from({ length: 30 }, (_, index) => `line ${index} ${'x'.repeat(200)}`);

test('lines that fit are not changed', () => {
  expect(fitLines(lines, within(10_000))).toBe(lines);
  expect(fitLines([], () => false)).toEqual([]);
});

test('long lines are clipped before any is left out', () => {
  const fitted = fitLines(lines, within(4_000));
  expect(fitted.map((line) => line.split(' ')[1])).toEqual(lines.map((_, index) => `${index}`));
});

test('with the least room the first and the last line stay, with the number of removed ones', () => {
  const fitted = fitLines(lines, within(700));
  expect(fitted.join('\n').length).toBeGreaterThan(600);
  expect(fitted[0]).toMatch(/^line 0 /);
  expect(fitted.at(-1)).toMatch(/^line 29 /);
  const mark = fitted.findIndex((line) => line.endsWith('lines left out]'));
  expect(fitted[mark]).toBe(`[${lines.length - (fitted.length - 1)} lines left out]`);
  expect(mark).toBeLessThan(fitted.length / 2);
  expect(fitLines(lines, within(10))).toEqual([]);
});

test('a clipped text is no longer than it may be, says that it is clipped, and breaks no character', () => {
  for (const characters of [10, 60, 299, 300, 1_000]) {
    const clipped = clip('😀'.repeat(2_000), characters);
    expect(clipped.length).toBeLessThanOrEqual(characters);
    expect(clipped).toContain('…');
    expect(clipped.isWellFormed()).toBe(true);
  }
  expect(clip('short', 5)).toBe('short');
  expect(clip('longer', 5).length).toBeLessThanOrEqual(6);
});
