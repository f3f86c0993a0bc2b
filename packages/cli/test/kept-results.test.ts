import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KeptResults } from '../src/eval/kept-results.ts';
import { makeFolder } from './support/folder.ts';

const sample = (name: string) => ({ case: name, sample: 1, scores: {}, ms: 1 });

test('[E5] a sample that was done after a crash is not run again after another one', async () => {
  await using folder = await makeFolder();
  const kept = new KeptResults(folder.path, 'desk');
  const identity = { cases: ['a', 'b', 'c'] };
  await kept.begin(identity, { isFresh: false });
  await kept.add(sample('a'));
  // The process ends in the middle of a line.
  await appendFile(join(folder.path, 'desk.part.jsonl'), '\n{"case":"b","sam');
  const second = new KeptResults(folder.path, 'desk');
  expect(await second.begin(identity, { isFresh: false })).toEqual([sample('a')]);
  await second.add(sample('b'));
  const third = new KeptResults(folder.path, 'desk');
  expect(await third.begin(identity, { isFresh: false })).toEqual([sample('a'), sample('b')]);
  expect(await third.begin(identity, { isFresh: true })).toEqual([]);
  expect(await third.begin(identity, { isFresh: false })).toEqual([]);
});
