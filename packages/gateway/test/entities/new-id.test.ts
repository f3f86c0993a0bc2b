import { expect, test } from 'vitest';
import { newId } from '../../src/domain/new-id.ts';

test('ids of one millisecond are in the order of creation, and none is created twice', () => {
  const ids = Array.from({ length: 2_000 }, () => newId(1_700_000_000_000));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(
    true,
  );
  const later = newId(1_700_000_000_001);
  expect(later > (ids.at(-1) ?? '')).toBe(true);
  // More ids than the counter can hold are still different.
  const many = Array.from({ length: 20_000 }, () => newId(1_700_000_000_002));
  expect(new Set(many).size).toBe(many.length);
});
