import { describe, expect, test } from 'vitest';
import { FilesystemError } from '../../src/errors.ts';
import { openFileTransaction } from '../../src/files/file-transaction.ts';
import type { Filesystem } from '../../src/files/filesystem.ts';
import { memoryFilesystem } from '../../src/files/memory-filesystem.ts';
import { codeOf, contentsOf, eachFilesystem } from './each-filesystem.ts';

describe.each(eachFilesystem)('a transaction on a $name file system', ({ create }) => {
  test('[T27] rolled back, leaves everything as before', async () => {
    const base = await filled(create());
    const before = await contentsOf(base);
    const transaction = openFileTransaction(base);
    await changeEverything(transaction.filesystem);
    expect(await contentsOf(base)).toEqual({
      d: 'now a file',
      kept: 'K',
      new: null,
      'new/x': 'x',
      old: null,
      'old/y': 'y',
    });
    await transaction.rollback();
    expect(await contentsOf(base)).toEqual(before);
  });

  test('committed, leaves everything as written', async () => {
    const base = await filled(create());
    const transaction = openFileTransaction(base);
    await changeEverything(transaction.filesystem);
    const after = await contentsOf(base);
    await transaction.commit();
    expect(await contentsOf(base)).toEqual(after);
  });

  test('[T27] operations that were not awaited are part of a commit and of a rollback', async () => {
    const base = await filled(create());
    const before = await contentsOf(base);
    const aborted = openFileTransaction(base);
    void changeEverything(aborted.filesystem).catch(() => {});
    for (const path of ['a', 'a', 'b/c', 'kept']) void aborted.filesystem.writeText(path, 'x', { mode: 'append' });
    await aborted.rollback();
    expect(await contentsOf(base)).toEqual(before);

    const kept = openFileTransaction(base);
    for (const path of ['a', 'a', 'b/c', 'kept']) void kept.filesystem.writeText(path, 'x', { mode: 'append' });
    await kept.commit();
    expect(await contentsOf(base)).toEqual({ ...before, a: 'xx', b: null, 'b/c': 'x', kept: 'kx' });
  });

  test('reads its own writes, in the order in which they were asked for', async () => {
    const { filesystem } = openFileTransaction(await filled(create()));
    void filesystem.writeText('kept', 'one');
    const first = filesystem.readText('kept');
    void filesystem.writeText('new', 'x');
    void filesystem.delete('kept');
    expect(await Promise.all([first, codeOf(filesystem.readText('kept')), filesystem.glob('n*')])).toEqual([
      'one',
      'not_found',
      ['new'],
    ]);
  });

  test('[T27] nested, an inner rollback undoes the inner operations, and an outer one everything', async () => {
    const base = await filled(create());
    const before = await contentsOf(base);
    const outer = openFileTransaction(base);
    await outer.filesystem.writeText('kept', 'outer');
    await outer.filesystem.writeText('made/by/outer', 'o');
    const between = await contentsOf(base);

    const inner = openFileTransaction(outer.filesystem);
    await inner.filesystem.writeText('kept', 'inner');
    await inner.filesystem.delete('made/by/outer');
    await inner.filesystem.writeText('made/by/inner', 'i');
    await inner.rollback();
    expect(await contentsOf(base)).toEqual(between);

    const second = openFileTransaction(outer.filesystem);
    await changeEverything(second.filesystem);
    await second.commit();
    await outer.rollback();
    expect(await contentsOf(base)).toEqual(before);
  });

  test('[T33] a write that was refused is not undone: changes of other programs stay', async () => {
    const base = await filled(create());
    const transaction = openFileTransaction(base);
    expect(await codeOf(transaction.filesystem.delete('none'))).toBe('not_found');
    expect(await codeOf(transaction.filesystem.writeText('kept', '', { mode: 'create' }))).toBe('already_exists');
    expect(await codeOf(transaction.filesystem.writeText('kept', '', { mode: 'x' as 'create' }))).toBe('options');
    await base.writeText('none', 'foreign');
    await base.writeText('kept', 'foreign');
    await transaction.rollback();
    expect(await contentsOf(base)).toMatchObject({ none: 'foreign', kept: 'foreign' });
  });
});

describe('a transaction that has ended', () => {
  test.each(['commit', 'rollback'] as const)('by %s refuses every operation and changes nothing', async (end) => {
    const base = memoryFilesystem({ files: { f: 'x' } });
    const transaction = openFileTransaction(base);
    const undo = await transaction.filesystem.capture('f');
    const ended = transaction[end]();
    await base.writeText('f', 'later');
    for (const operation of everyOperation(transaction.filesystem)) expect(await codeOf(operation)).toBe('stale_call');
    expect(await codeOf(undo())).toBe(end === 'commit' ? 'stale_call' : 'done');
    await ended;
    expect(await contentsOf(base)).toEqual({ f: 'later' });
  });

  test('ends once: repeating the same end returns the same promise, and the other end is refused', async () => {
    const base = memoryFilesystem();
    const transaction = openFileTransaction(base);
    await transaction.filesystem.writeText('f', '');
    expect(transaction.commit()).toBe(transaction.commit());
    expect(await codeOf(transaction.rollback())).toBe('stale_call');
    expect(await contentsOf(base)).toEqual({ f: '' });
  });
});

describe('[T27] a file operation in flight', () => {
  test('is awaited before it is undone; operations that have not begun are refused', async () => {
    const base = memoryFilesystem({ files: { f: 'before' } });
    const slow = gated(base);
    const transaction = openFileTransaction(slow.filesystem);
    const first = codeOf(transaction.filesystem.writeText('f', 'first'));
    const second = codeOf(transaction.filesystem.writeText('g', 'second'));
    const read = codeOf(transaction.filesystem.readText('f'));
    await slow.reached;
    const order: string[] = [];
    const rolledBack = transaction.rollback().then(() => order.push('rolled back'));
    await turnOfTheLoop();
    order.push('opened');
    slow.open();
    expect([await first, await second, await read]).toEqual(['done', 'stale_call', 'stale_call']);
    await rolledBack;
    expect(order).toEqual(['opened', 'rolled back']);
    expect(await contentsOf(base)).toEqual({ f: 'before' });
  });

  test('is awaited by a commit, with all that were requested', async () => {
    const base = memoryFilesystem();
    const slow = gated(base);
    const transaction = openFileTransaction(slow.filesystem);
    void transaction.filesystem.writeText('f', 'one');
    void transaction.filesystem.writeText('f', '+two', { mode: 'append' });
    await slow.reached;
    const committed = transaction.commit();
    slow.open();
    await committed;
    expect(await contentsOf(base)).toEqual({ f: 'one+two' });
  });

  test('is undone also if it failed half-way', async () => {
    const base = memoryFilesystem({ files: { f: 'before' } });
    const breaking: Filesystem = {
      ...base,
      async writeText(path) {
        await base.writeText(path, 'hal');
        throw new FilesystemError('io', path, 'the disk is full');
      },
    };
    const transaction = openFileTransaction(breaking);
    expect(await codeOf(transaction.filesystem.writeText('f', 'half'))).toBe('io');
    expect(await base.readText('f')).toBe('hal');
    await transaction.rollback();
    expect(await base.readText('f')).toBe('before');
  });

  test('that only reads does not delay a rollback, and is refused in the end', async () => {
    const base = memoryFilesystem({ files: { f: 'x' } });
    let answer = (_: string): void => {};
    const endless: Filesystem = { ...base, readText: () => new Promise((resolve) => (answer = resolve)) };
    const transaction = openFileTransaction(endless);
    const read = codeOf(transaction.filesystem.readText('f'));
    await turnOfTheLoop();
    await transaction.rollback();
    answer('half of each');
    expect(await read).toBe('stale_call');
  });
});

describe('a rollback', () => {
  test('that cannot put something back tries the rest and names every cause', async () => {
    const base = memoryFilesystem({ files: { a: '1', b: '2', c: '3' } });
    const stubborn: Filesystem = {
      ...base,
      async capture(path) {
        const undo = await base.capture(path);
        return path === 'b' ? undo : () => Promise.reject(new Error(`not ${path}`));
      },
    };
    const transaction = openFileTransaction(stubborn);
    for (const path of ['a', 'b', 'c']) await transaction.filesystem.writeText(path, 'changed');
    const error = await transaction.rollback().catch((reason: AggregateError) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors.map((cause: Error) => cause.message)).toEqual(['not c', 'not a']);
    expect(await contentsOf(base)).toEqual({ a: 'changed', b: '2', c: 'changed' });
  });

  test('captures each path once, however it is spelt, and its cost depends on the touched paths', async () => {
    const base = memoryFilesystem({ files: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, ''])) });
    const { counted, captured } = countingCaptures(base);
    const transaction = openFileTransaction(counted);
    const spellings = ['f1', '/f1', './f1', 'x/../f1', 'f2'];
    await Promise.all(spellings.map((path) => transaction.filesystem.writeText(path, 'x')));
    await transaction.rollback();
    expect(captured).toEqual(['f1', 'f2']);
    expect(await base.readText('f1')).toBe('');
  });

  test('of an outer transaction ends an inner one left open, whose later rollback does nothing', async () => {
    const base = memoryFilesystem({ files: { f: 'before' } });
    const outer = openFileTransaction(base);
    const inner = openFileTransaction(outer.filesystem);
    await inner.filesystem.writeText('f', 'inner');
    const outerEnd = outer.rollback();
    expect(await codeOf(inner.filesystem.writeText('f', 'late'))).toBe('stale_call');
    await inner.rollback();
    await outerEnd;
    expect(await base.readText('f')).toBe('before');
  });

  test('of an inner transaction whose outer one was committed rejects: its changes are permanent', async () => {
    const base = memoryFilesystem({ files: { f: 'before' } });
    const outer = openFileTransaction(base);
    const inner = openFileTransaction(outer.filesystem);
    await inner.filesystem.writeText('f', 'inner');
    await outer.commit();
    await expect(inner.rollback()).rejects.toBeInstanceOf(AggregateError);
  });
});

test('[T27] a directory that was written to, deleted and created again is restored with its date', async () => {
  let time = 0;
  const base = memoryFilesystem({ files: { 'd/f': 'before' }, clock: { now: () => time++, sleep: async () => {} } });
  const before = [await base.stat('d'), await base.stat('d/f'), await contentsOf(base)];
  const transaction = openFileTransaction(base);
  await transaction.filesystem.writeText('d/f', 'changed');
  await transaction.filesystem.delete('d/f');
  await transaction.filesystem.delete('d');
  await transaction.filesystem.writeText('d/f', 'new');
  await transaction.rollback();
  expect([await base.stat('d'), await base.stat('d/f'), await contentsOf(base)]).toEqual(before);
});

describe('[T34] a read-only transaction', () => {
  test('reports every write it refused, also one that is not awaited', () => {
    const refusals: string[] = [];
    const onRefusal = (error: Error): number => refusals.push(error.name);
    const { filesystem } = openFileTransaction(memoryFilesystem(), { readOnly: true, onRefusal });
    void filesystem.writeText('f', '');
    void filesystem.delete('f');
    void filesystem.readText('f');
    expect(refusals).toEqual(['ReadOnlyError', 'ReadOnlyError']);
  });

  test('reads, refuses every write and captures nothing', async () => {
    const base = memoryFilesystem({ files: { f: 'x' } });
    const { counted, captured } = countingCaptures(base);
    const { filesystem, commit } = openFileTransaction(counted, { readOnly: true });
    expect(await filesystem.readText('f')).toBe('x');
    expect(await filesystem.glob('*')).toEqual(['f']);
    expect(await codeOf(filesystem.writeText('f', 'y'))).toBe('read_only');
    expect(await codeOf(filesystem.delete('f'))).toBe('read_only');
    expect(captured).toEqual([]);
    const undo = await filesystem.capture('f');
    expect(await codeOf(undo())).toBe('read_only');
    const nested = openFileTransaction(filesystem);
    expect(await codeOf(nested.filesystem.writeText('f', 'y'))).toBe('read_only');
    await nested.rollback();
    await commit();
    expect(await contentsOf(base)).toEqual({ f: 'x' });
  });
});

test('a rejection that a tool does not await is never an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown): number => unhandled.push(reason);
  process.on('unhandledRejection', listener);
  const transaction = openFileTransaction(memoryFilesystem({ files: { f: '' } }));
  const undo = await transaction.filesystem.capture('f');
  const bad = Symbol('no path') as unknown as string;
  for (const path of ['none', '../x', 'f/g', bad]) {
    for (const operation of everyOperation(transaction.filesystem, path)) expect(operation).toBeInstanceOf(Promise);
  }
  await transaction.commit();
  void everyOperation(transaction.filesystem);
  void undo();
  void everyOperation(openFileTransaction(memoryFilesystem(), { readOnly: true }).filesystem, 'none');
  await turnOfTheLoop();
  await turnOfTheLoop();
  process.off('unhandledRejection', listener);
  expect(unhandled).toEqual([]);
});

function everyOperation(files: Filesystem, path = 'f'): Promise<unknown>[] {
  return [
    files.readText(path),
    files.writeText(path, 'y', { mode: 'create' }),
    files.delete(path),
    files.list(path),
    files.stat(path),
    files.glob(path),
    files.grep(path, { limit: -1 }),
    files.capture(path),
  ];
}

async function filled(files: Filesystem): Promise<Filesystem> {
  for (const [path, text] of [
    ['kept', 'k'],
    ['d/e/f', 'f'],
    ['old', 'o'],
  ] as const)
    await files.writeText(path, text);
  return files;
}

async function changeEverything(files: Filesystem): Promise<void> {
  await files.writeText('kept', 'K');
  await files.delete('d/e/f');
  await files.delete('d/e');
  await files.delete('d');
  await files.writeText('d', 'now a file');
  await files.delete('old');
  await files.writeText('old/y', 'y');
  await files.writeText('new/x', 'x');
}

function countingCaptures(base: Filesystem): { counted: Filesystem; captured: string[] } {
  const captured: string[] = [];
  const capture: Filesystem['capture'] = (path) => {
    captured.push(path);
    return base.capture(path);
  };
  return { counted: { ...base, capture }, captured };
}

/** A file system whose first write waits until the test releases it. */
function gated(base: Filesystem): { filesystem: Filesystem; reached: Promise<void>; open(): void } {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const writeText: Filesystem['writeText'] = async (path, text, options) => {
    reached.resolve();
    await gate.promise;
    await base.writeText(path, text, options);
  };
  return { filesystem: { ...base, writeText }, reached: reached.promise, open: gate.resolve };
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
