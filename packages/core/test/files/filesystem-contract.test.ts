import { describe, expect, test } from 'vitest';
import type { Filesystem } from '../../src/files/filesystem.ts';
import { codeOf, contentsOf, eachFilesystem } from './each-filesystem.ts';

describe.each(eachFilesystem)('a $name file system', ({ create }) => {
  test('reads back the same bytes that were written', async () => {
    const files = create();
    for (const text of ['', 'a\r\nb\n', '\ufeffmark', 'ünï 😀 \0', 'x'.repeat(100_000)]) {
      await files.writeText('f', text);
      expect(await files.readText('f')).toBe(text);
    }
  });

  test('makes the directories above a file', async () => {
    const files = create();
    await files.writeText('/a/./b//c.txt', 'c');
    expect(await contentsOf(files)).toEqual({ a: null, 'a/b': null, 'a/b/c.txt': 'c' });
  });

  test('follows the mode of a write', async () => {
    const files = create();
    await files.writeText('f', 'one', { mode: 'create' });
    expect(await codeOf(files.writeText('f', 'two', { mode: 'create' }))).toBe('already_exists');
    await files.writeText('f', '+two', { mode: 'append' });
    expect(await files.readText('f')).toBe('one+two');
    await files.writeText('f', 'x', { mode: 'overwrite' });
    expect(await files.readText('f')).toBe('x');
    await files.writeText('g', 'new', { mode: 'append' });
    expect(await files.readText('g')).toBe('new');
    expect(await codeOf(files.writeText('f', 'y', { mode: 'truncate' as 'create' }))).toBe('options');
    expect(await files.readText('f')).toBe('x');
  });

  test.each<[string, string, (files: Filesystem) => Promise<unknown>]>([
    ['reading what is not there', 'not_found', (files) => files.readText('none')],
    ['reading a directory', 'is_directory', (files) => files.readText('dir')],
    ['reading the root', 'is_directory', (files) => files.readText('')],
    ['reading below a file', 'not_directory', (files) => files.readText('file/x/y')],
    ['writing to a directory', 'is_directory', (files) => files.writeText('dir', '')],
    ['writing to the root', 'is_directory', (files) => files.writeText('/', '')],
    ['writing below a file', 'not_directory', (files) => files.writeText('file/x/y', '')],
    ['writing no text', 'not_text', (files) => files.writeText('new/x', 7 as unknown as string)],
    ['writing half a surrogate pair', 'not_text', (files) => files.writeText('new/x', '\ud83d')],
    ['writing too much', 'too_large', (files) => files.writeText('new/x', 'é'.repeat(51))],
    ['appending too much', 'too_large', (files) => files.writeText('file', 'é'.repeat(50), { mode: 'append' })],
    ['writing outside the root', 'outside_root', (files) => files.writeText('dir/../../x', '')],
    ['writing to a name over its limit', 'bad_path', (files) => files.writeText(`new/${'x'.repeat(21)}`, '')],
    ['deleting what is not there', 'not_found', (files) => files.delete('none/x')],
    ['deleting a directory that holds something', 'not_empty', (files) => files.delete('dir')],
    ['deleting the root', 'bad_path', (files) => files.delete('/')],
    ['deleting below a file', 'not_directory', (files) => files.delete('file/x')],
    ['listing a file', 'not_directory', (files) => files.list('file')],
    ['listing what is not there', 'not_found', (files) => files.list('none')],
    ['a stat of what is not there', 'not_found', (files) => files.stat('none')],
    ['a glob out of the root', 'outside_root', (files) => files.glob('../*')],
    ['a grep out of the root', 'outside_root', (files) => files.grep('x', { glob: '../*' })],
    ['a grep without a place for matches', 'options', (files) => files.grep('x', { limit: 0 })],
    ['a grep for a number', 'options', (files) => files.grep(7 as unknown as string)],
    ['a capture below a file', 'not_directory', (files) => files.capture('file/x/y')],
    ['a path that is no text', 'bad_path', (files) => files.stat(undefined as unknown as string)],
  ])('[T33] %s is refused as %s and changes nothing', async (_, code, operation) => {
    const files = create({ maxFileBytes: 100, limits: { nameBytes: 20 } });
    await files.writeText('file', 'f');
    await files.writeText('dir/inner', 'i');
    const before = await contentsOf(files);
    expect(await codeOf(operation(files))).toBe(code);
    expect(await contentsOf(files)).toEqual(before);
  });

  test('accepts a file of exactly the limit', async () => {
    const files = create({ maxFileBytes: 100 });
    await files.writeText('f', 'é'.repeat(25));
    await files.writeText('f', 'é'.repeat(25), { mode: 'append' });
    expect((await files.stat('f')).size).toBe(100);
  });

  test('accepts files of at most 10 MiB by default', async () => {
    const files = create();
    await files.writeText('f', 'x'.repeat(10 * 1024 * 1024));
    expect(await codeOf(files.writeText('f', 'y', { mode: 'append' }))).toBe('too_large');
  });

  test.each([{ maxFileBytes: 0 }, { maxFileBytes: Number.NaN }, { limits: { depth: 0 } }, { limits: { deep: 1 } }])(
    'refuses the options %j',
    (options) => {
      expect(() => create(options)).toThrow(expect.objectContaining({ code: 'options' }));
    },
  );

  test('deletes files and empty directories', async () => {
    const files = create();
    await files.writeText('a/b', 'b');
    await files.delete('a/b');
    await files.delete('a');
    expect(await contentsOf(files)).toEqual({});
  });

  test('lists a directory, sorted by name', async () => {
    const files = create();
    for (const path of ['b', 'a/x', 'a-b', 'B', '.c']) await files.writeText(path, '');
    expect(await files.list()).toEqual([
      { name: '.c', path: '.c', kind: 'file' },
      { name: 'B', path: 'B', kind: 'file' },
      { name: 'a', path: 'a', kind: 'directory' },
      { name: 'a-b', path: 'a-b', kind: 'file' },
      { name: 'b', path: 'b', kind: 'file' },
    ]);
    expect(await files.list('a')).toEqual([{ name: 'x', path: 'a/x', kind: 'file' }]);
  });

  test('knows kind, size in bytes and date', async () => {
    const files = create();
    await files.writeText('a/f', 'é');
    expect(await files.stat('a/f')).toEqual({ kind: 'file', size: 2, modifiedAt: expect.any(Number) });
    expect(await files.stat('a')).toEqual({ kind: 'directory', size: 0, modifiedAt: expect.any(Number) });
    expect(await files.stat('')).toMatchObject({ kind: 'directory' });
  });

  test('finds files by pattern, sorted by path', async () => {
    const files = create();
    for (const path of ['a/x.ts', 'a-b.ts', 'a/y.js', 'a/.b/z.ts', 'c.ts/d']) await files.writeText(path, '');
    expect(await files.glob('**/*.ts')).toEqual(['a-b.ts', 'a/.b/z.ts', 'a/x.ts']);
    expect(await files.glob('a/*.{ts,js}')).toEqual(['a/x.ts', 'a/y.js']);
    expect(await files.glob('a/x.ts')).toEqual(['a/x.ts']);
    expect(await files.glob('none/**')).toEqual([]);
    expect(await files.glob('a-b.ts/x/*')).toEqual([]);
  });

  test('finds lines by text and by expression, in order of path and line', async () => {
    const files = create();
    await files.writeText('b.txt', 'one\r\ntwo a.c\nthree\n');
    await files.writeText('a/x.txt', 'abc\n\nabc');
    await files.writeText('binary', 'abc\0');
    expect(await files.grep('a.c')).toEqual([{ path: 'b.txt', line: 2, text: 'two a.c' }]);
    expect(await files.grep(/A.C$/gi)).toEqual([
      { path: 'a/x.txt', line: 1, text: 'abc' },
      { path: 'a/x.txt', line: 3, text: 'abc' },
      { path: 'b.txt', line: 2, text: 'two a.c' },
    ]);
    expect(await files.grep(/a.c/, { glob: '*.txt' })).toHaveLength(1);
    expect(await files.grep(/a.c/, { limit: 2 })).toHaveLength(2);
    await files.writeText('twice', 'x\nx');
    expect(await files.grep(/x/g)).toHaveLength(2);
    expect(await files.grep(/^$/)).toEqual([{ path: 'a/x.txt', line: 2, text: '' }]);
  });

  test('finds at most 1,000 lines by default', async () => {
    const files = create();
    await files.writeText('f', 'x\n'.repeat(1200));
    expect(await files.grep('x')).toHaveLength(1000);
    expect(await files.grep('x', { limit: 1100 })).toHaveLength(1100);
  });

  test('keeps writes that are not awaited in order', async () => {
    const files = create();
    const texts = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(31 - index));
    await Promise.all(texts.map((text) => files.writeText('f', text)));
    expect(await files.readText('f')).toBe('29'.repeat(2));
    await Promise.all(['a', 'b', 'c'].map((text) => files.writeText('g', text, { mode: 'append' })));
    expect(await files.readText('g')).toBe('abc');
  });

  test.each<[string, (files: Filesystem) => Promise<unknown>]>([
    ['overwritten', (files) => files.writeText('dir/f', 'other')],
    ['deleted', (files) => files.delete('dir/f')],
    [
      'made a directory',
      (files) => files.delete('dir/f').then(() => files.writeText('dir/f/g', '').then(() => files.delete('dir/f/g'))),
    ],
    ['deleted with its directory', (files) => files.delete('dir/f').then(() => files.delete('dir'))],
  ])('[T33] restores a captured file that was %s', async (_, change) => {
    const files = create();
    await files.writeText('dir/f', 'before');
    const { modifiedAt } = await files.stat('dir/f');
    const undo = await files.capture('/dir//f');
    await change(files);
    await undo();
    expect(await contentsOf(files)).toEqual({ dir: null, 'dir/f': 'before' });
    expect((await files.stat('dir/f')).modifiedAt).toBe(modifiedAt);
  });

  test('[T33] removes a file that did not exist before, with the directories created for it', async () => {
    const files = create();
    await files.writeText('a/kept', '');
    const undo = await files.capture('a/b/c/f');
    await files.writeText('a/b/c/f', 'new');
    await undo();
    expect(await contentsOf(files)).toEqual({ a: null, 'a/kept': '' });
  });

  test('[T33] an undo keeps a directory that others filled, and a file that replaced it', async () => {
    const files = create();
    const undo = await files.capture('a/b/f');
    await files.writeText('a/b/f', 'new');
    await files.writeText('a/foreign', 'f');
    await undo();
    expect(await contentsOf(files)).toEqual({ a: null, 'a/foreign': 'f' });

    const again = await files.capture('x/y/f');
    await files.writeText('x', 'foreign');
    await again();
    expect(await files.readText('x')).toBe('foreign');
  });

  test('[T33] restores a deleted directory, even if a file has replaced it', async () => {
    const files = create();
    await files.writeText('d/f', '');
    await files.delete('d/f');
    const undo = await files.capture('d');
    await files.delete('d');
    await files.writeText('d', 'file');
    await undo();
    expect(await contentsOf(files)).toEqual({ d: null });
  });

  test('[T33] an undo of a directory that still exists keeps its content', async () => {
    const files = create();
    await files.writeText('d/f', 'f');
    const undo = await files.capture('d');
    await files.writeText('d/g', 'g');
    await undo();
    expect(await contentsOf(files)).toEqual({ d: null, 'd/f': 'f', 'd/g': 'g' });
  });

  test('an undo comes after a write that was not awaited', async () => {
    const files = create();
    const paths = ['a', 'b', 'c/d', 'c/e', 'f'];
    for (const path of paths) await files.writeText(path, 'before');
    const undos = await Promise.all(paths.map((path) => files.capture(path)));
    for (const path of paths) void files.writeText(path, 'x'.repeat(1_000_000));
    await Promise.all(undos.map((undo) => undo()));
    for (const path of paths) expect(await files.readText(path)).toBe('before');
  });

  test('an undo that would destroy files of others rejects instead', async () => {
    const files = create();
    await files.writeText('a', 'before');
    const undo = await files.capture('a');
    await files.delete('a');
    await files.writeText('a/foreign', 'f');
    expect(await codeOf(undo())).toBe('not_empty');
    expect(await contentsOf(files)).toEqual({ a: null, 'a/foreign': 'f' });
  });
});
