import { expect, test } from 'vitest';
import { memoryFilesystem } from '../../src/files/memory-filesystem.ts';

const clockAt = (time: { now: number }) => ({ now: () => time.now, sleep: async () => {} });

test('a memory file system begins with the files it is given', async () => {
  const files = memoryFilesystem({ files: { '/a/b': 'x', c: '' } });
  expect(await files.glob('**')).toEqual(['a/b', 'c']);
  expect(await files.readText('a/b')).toBe('x');
});

test('a memory file system refuses files that exclude each other', () => {
  expect(() => memoryFilesystem({ files: { a: '', 'a/b': '' } })).toThrow(/"a\/b"/);
  expect(() => memoryFilesystem({ files: { a: '', './a': '' } })).toThrow(/already/);
  expect(() => memoryFilesystem({ files: { '../a': '' } })).toThrow('root');
});

test('a memory file system dates files by its clock, and an undo restores the date', async () => {
  const time = { now: 1000 };
  const files = memoryFilesystem({ files: { f: 'x' }, clock: clockAt(time) });
  const undo = await files.capture('f');
  time.now = 2000;
  await files.writeText('f', 'y');
  expect((await files.stat('f')).modifiedAt).toBe(2000);
  await undo();
  expect((await files.stat('f')).modifiedAt).toBe(1000);
});

test('two memory file systems share nothing', async () => {
  const [one, other] = [memoryFilesystem(), memoryFilesystem()];
  await one.writeText('f', 'x');
  expect(await other.list()).toEqual([]);
});

test.each([['__proto__'], ['constructor'], ['toString/hasOwnProperty']])(
  'the name %s is an ordinary name',
  async (path) => {
    const files = memoryFilesystem();
    await expect(files.readText(path)).rejects.toThrow(/not there/);
    await files.writeText(path, 'x');
    expect(await files.glob('**')).toEqual([path]);
  },
);
