import { chmodSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openFileTransaction } from '../../src/files/file-transaction.ts';
import type { Filesystem, WriteMode } from '../../src/files/filesystem.ts';
import { memoryFilesystem } from '../../src/files/memory-filesystem.ts';
import { hostFilesystem } from '../../src/node/host-filesystem.ts';
import { contentsOf } from './each-filesystem.ts';
import { scratchDirectory, treeOf } from './scratch-directory.ts';

type Step = { path: string; awaited: boolean } & (
  | { kind: 'delete' }
  | { kind: 'write'; text: string; mode: WriteMode }
);
type Model = Map<string, string | null>;

const path = fc.constantFrom('a', 'a/b', 'a/b/c', 'a/b/d', 'e', 'e/f', 'e/f/g', 'h', './a//b', 'x/../e');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), path, awaited: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      path,
      awaited: fc.boolean(),
      text: fc.string({ maxLength: 5 }),
      mode: fc.constantFrom<WriteMode>('create', 'overwrite', 'append'),
    }),
  },
);
const steps = fc.array(step, { maxLength: 20 });
const patient = { timeout: 30_000 };
const runs = { numRuns: 30 };

const subjects = [
  {
    name: 'memory',
    open() {
      let time = 0;
      const base = memoryFilesystem({ clock: { now: () => time++, sleep: async () => {} } });
      return { base, shuffleModes: () => {}, look: () => datedContentsOf(base) };
    },
  },
  {
    name: 'host',
    open() {
      const root = scratchDirectory();
      const look = async (): Promise<unknown> => treeOf(root);
      return { base: hostFilesystem(root), shuffleModes: () => shuffleModes(root), look };
    },
  },
];

describe.each(subjects)('any work on a $name file system', ({ open }) => {
  test('[T27] rolled back leaves the tree as it was, byte for byte', patient, async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, during) => {
        const { base, shuffleModes, look } = open();
        await settle(base, before);
        shuffleModes();
        const tree = await look();
        const transaction = openFileTransaction(base);
        await perform(transaction.filesystem, during);
        await transaction.rollback();
        expect(await look()).toEqual(tree);
      }),
      runs,
    );
  });

  test('committed leaves the same tree as a simple model', patient, async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, during) => {
        const { base } = open();
        await settle(base, before);
        const transaction = openFileTransaction(base);
        await perform(transaction.filesystem, during);
        await transaction.commit();
        expect(await contentsOf(base)).toEqual(Object.fromEntries(modelOf([...before, ...during])));
      }),
      runs,
    );
  });

  test('[T27] nested is undone level by level', patient, async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, steps, fc.boolean(), async (before, outside, inside, keepsInner) => {
        const { base, shuffleModes, look } = open();
        await settle(base, before);
        shuffleModes();
        const tree = await look();
        const outer = openFileTransaction(base);
        await settle(outer.filesystem, outside);
        const between = await look();
        const inner = openFileTransaction(outer.filesystem);
        await perform(inner.filesystem, inside);
        await (keepsInner ? inner.commit() : inner.rollback());
        if (!keepsInner) expect(await look()).toEqual(between);
        await outer.rollback();
        expect(await look()).toEqual(tree);
      }),
      runs,
    );
  });
});

test('[T33] any work on a host that is rolled back keeps the files of other programs', patient, async () => {
  await fc.assert(
    fc.asyncProperty(steps, steps, async (before, during) => {
      const root = scratchDirectory();
      const base = hostFilesystem(root);
      await settle(base, before);
      const [tree, were] = [treeOf(root), modelOf(before)];
      const transaction = openFileTransaction(base);
      await settle(transaction.filesystem, during);
      const foreign = directoriesNow(treeOf(root))
        .filter((directory) => !leadsThroughFile(were, directory))
        .map((directory) => join(root, directory, 'foreign'));
      for (const file of foreign) writeFileSync(file, 'foreign');
      await transaction.rollback();
      expect(Object.keys(treeOf(root)).filter((each) => each.endsWith('foreign'))).toHaveLength(foreign.length);
      for (const file of foreign) rmSync(file);
      // Only a directory that held a file of another program may be left over, and it is empty.
      for (const directory of directoriesNow(treeOf(root)).reverse()) {
        if (!(directory in tree) && directory !== '') rmdirSync(join(root, directory));
      }
      expect(treeOf(root)).toEqual(tree);
    }),
    runs,
  );
});

async function datedContentsOf(files: Filesystem): Promise<unknown> {
  const contents = Object.entries(await contentsOf(files));
  return Promise.all(contents.map(async ([path, text]) => ({ path, text, ...(await files.stat(path)) })));
}

async function settle(files: Filesystem, work: readonly Step[]): Promise<void> {
  await Promise.all(work.map((each) => start(files, each)));
}

/** Does not wait for steps that are not awaited. */
async function perform(files: Filesystem, work: readonly Step[]): Promise<void> {
  for (const each of work) {
    const started = start(files, each);
    if (each.awaited) await started;
  }
}

function start(files: Filesystem, each: Step): Promise<unknown> {
  const operation =
    each.kind === 'delete' ? files.delete(each.path) : files.writeText(each.path, each.text, { mode: each.mode });
  return operation.catch(() => 'refused');
}

/** The simplest model of a file system: `null` is a directory. */
function modelOf(work: readonly Step[]): Model {
  const model: Model = new Map();
  for (const each of work) apply(model, each);
  return model;
}

function apply(model: Model, each: Step): void {
  const at = each.path === './a//b' ? 'a/b' : each.path === 'x/../e' ? 'e' : each.path;
  const now = model.get(at);
  if (each.kind === 'delete') {
    if (![...model.keys()].some((other) => other.startsWith(`${at}/`))) model.delete(at);
    return;
  }
  if (now === null || leadsThroughFile(model, dirnameOf(at)) || (now !== undefined && each.mode === 'create')) return;
  for (let above = dirnameOf(at); above !== ''; above = dirnameOf(above)) model.set(above, null);
  model.set(at, each.mode === 'append' ? (now ?? '') + each.text : each.text);
}

function leadsThroughFile(model: Model, at: string): boolean {
  if (at === '') return false;
  return typeof model.get(at) === 'string' || leadsThroughFile(model, dirnameOf(at));
}

function dirnameOf(at: string): string {
  return at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : '';
}

function directoriesNow(tree: Record<string, string>): string[] {
  return ['', ...Object.keys(tree).filter((at) => tree[at]?.startsWith('directory'))];
}

/** Sets other modes than the defaults, so that a rollback could lose them. */
function shuffleModes(root: string): void {
  for (const [index, at] of Object.keys(treeOf(root)).entries()) {
    const modes = treeOf(root)[at]?.startsWith('directory') ? [0o700, 0o2775] : [0o600, 0o755, 0o4711];
    chmodSync(join(root, at), modes[index % modes.length] as number);
  }
}
