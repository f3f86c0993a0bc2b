import { expect, test } from 'vitest';
import { chunkRows } from '../../src/ports/store/chunk-rows.ts';

test('rows are split into chunks that fit into one statement, in order and each once', () => {
  const rows = Array.from({ length: 70_001 }, (_, id) => ({ id, name: 'x', at: 1 }));
  const parts = chunkRows(rows);
  expect(parts.flat()).toEqual(rows);
  expect(Math.max(...parts.map((part) => part.length * 3))).toBeLessThanOrEqual(32_766);
  expect(chunkRows(rows.slice(0, 3))).toEqual([rows.slice(0, 3)]);
  expect(chunkRows([])).toEqual([]);
});
