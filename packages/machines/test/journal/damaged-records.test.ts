import type { JournalRecord } from '@lastcall/core';
import { memoryJournal } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { machineFromRecords, StoredMachineError, serializeMachine } from '../../src/index.ts';
import { desk, live, session } from './desk.ts';

/** The places in a value: the keys that lead to each of its fields. */
function places(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...(path.length === 0 ? [] : [path]), ...entries.flatMap(([key, field]) => places(field, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy: Record<string | number, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as object) };
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

const anything = fc.constantFrom<unknown>(null, 0, -1, 7, '', 'root', 'root.1', 'x', true, [], {}, [{}], { kind: 'x' });

test('[A20] [M27] damaged records either restore a machine that can be stored, or are refused with a StoredMachineError', async () => {
  const journal = memoryJournal();
  await live([], journal, journal);
  const { records } = journal;
  const all = places(records);
  let refused = 0;
  fc.assert(
    fc.property(fc.nat(all.length - 1), anything, fc.boolean(), (at, by, isCut) => {
      const damaged = replaced(records, all[at] ?? [], by) as readonly JournalRecord[];
      // Also cut after the damage, as if the process had ended then.
      const [index] = all[at] as readonly [number];
      const read = isCut ? damaged.slice(0, index + 1) : damaged;
      try {
        serializeMachine(machineFromRecords(desk([]), read, { session }));
      } catch (error) {
        expect(error).toBeInstanceOf(StoredMachineError);
        refused++;
      }
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});

test.each([
  ['no object', null, /staged\.slices/],
  ['a change that is none', { 'lastcall.succeeded': null }, /staged\.slices\.lastcall\.succeeded/],
  [
    'a patch that is none',
    { 'lastcall.succeeded': { version: 1, patch: -1 } },
    /staged\.slices\.lastcall\.succeeded\.patch/,
  ],
])('[M27] records whose changes of a session are %s are refused with the path', async (_, slices, path) => {
  const journal = memoryJournal();
  await live([], journal, journal);
  const records = structuredClone(journal.records) as unknown as { staged?: { slices?: unknown } }[];
  const changed = records.find(({ staged }) => staged?.slices !== undefined);
  if (changed?.staged !== undefined) changed.staged.slices = slices;
  expect(() => machineFromRecords(desk([]), records as never, { session })).toThrow(StoredMachineError);
  expect(() => machineFromRecords(desk([]), records as never, { session })).toThrow(path);
});
