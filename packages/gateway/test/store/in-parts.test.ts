import { expect, test } from 'vitest';
import { inParts } from '../../src/ports/store/in-parts.ts';

test('rows go in parts that one statement has room for, in order and each once', () => {
  const rows = Array.from({ length: 70_001 }, (_, id) => ({ id, name: 'x', at: 1 }));
  const parts = inParts(rows);
  expect(parts.flat()).toEqual(rows);
  expect(Math.max(...parts.map((part) => part.length * 3))).toBeLessThanOrEqual(32_766);
  expect(inParts(rows.slice(0, 3))).toEqual([rows.slice(0, 3)]);
  expect(inParts([])).toEqual([]);
});
