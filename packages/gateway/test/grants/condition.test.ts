import { expect, test } from 'vitest';
import { isCovered } from '../../src/domain/grants/condition.ts';

test('[O9] a number at a bound of a condition is covered, and one beyond it is not', () => {
  const conditions = [{ field: '/amount', atLeast: 1, atMost: 100 }];
  const covered = [0.99, 1, 100, 100.01].map((amount) => isCovered(conditions, { amount }));
  expect(covered).toEqual([false, true, true, false]);
});

test('[O9] a text is never between two numbers', () => {
  expect(isCovered([{ field: '/amount', atLeast: 1, atMost: 100 }], { amount: '50' })).toBe(false);
});

test('[O9] a list without values covers nothing', () => {
  expect(isCovered([{ field: '/to', oneOf: [] }], { to: 'Ada' })).toBe(false);
});

test('[O9] a condition names fields as JSON Pointers do, also fields with a slash or a tilde', () => {
  const isHeld = (field: string, input: object) => isCovered([{ field, equals: 1 }], input);
  expect(isHeld('/a~1b', { 'a/b': 1 })).toBe(true);
  expect(isHeld('/a~0b', { 'a~b': 1 })).toBe(true);
  expect(isHeld('/a~01', { 'a~1': 1 })).toBe(true);
  expect(isHeld('/a~01', { 'a/': 1 })).toBe(false);
});
