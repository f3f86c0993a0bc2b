import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFileTransaction } from '../../src/files/file-transaction.ts';
import type { Filesystem } from '../../src/files/filesystem.ts';
import { readFileBytes, writeFileBytes } from '../../src/node/host-file.ts';
import { hostFilesystem } from '../../src/node/host-filesystem.ts';
import { findPlace } from '../../src/node/host-place.ts';
import { codeOf } from './each-filesystem.ts';
import { scratchDirectory, treeOf } from './scratch-directory.ts';

const binary = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]);

describe('the root of a host file system', () => {
  test.each([
    ['is not there', 'none'],
    ['is a file', 'file'],
  ])('that %s is refused', (_, name) => {
    const { root } = rootBesideOutside();
    writeFileSync(join(root, 'file'), '');
    expect(() => hostFilesystem(join(root, name))).toThrow(/must be a directory that exists/);
  });

  test.each([[''], [undefined as unknown as string]])('that is %j is refused', (root) => {
    expect(() => hostFilesystem(root)).toThrow(expect.objectContaining({ code: 'options' }));
  });

  test('may itself be given as a link', async () => {
    const { root, base } = rootBesideOutside();
    symlinkSync(root, join(base, 'link'));
    await hostFilesystem(join(base, 'link')).writeText('a/f', 'x');
    expect(readFileSync(join(root, 'a/f'), 'utf8')).toBe('x');
  });
});

describe('[T33] a symbolic link out of the root', () => {
  const operations: [string, (files: Filesystem, path: string) => Promise<unknown>][] = [
    ['readText', (files, path) => files.readText(path)],
    ['writeText', (files, path) => files.writeText(path, 'x')],
    ['append', (files, path) => files.writeText(path, 'x', { mode: 'append' })],
    ['create', (files, path) => files.writeText(path, 'x', { mode: 'create' })],
    ['delete', (files, path) => files.delete(path)],
    ['stat', (files, path) => files.stat(path)],
    ['list', (files, path) => files.list(path)],
    ['glob', (files, path) => files.glob(`${path}/*`)],
    ['capture', (files, path) => files.capture(path)],
  ];
  const paths = [
    'file',
    'dir',
    'dir/secret',
    'dir/new/f',
    'dangling',
    'dangling/f',
    'up/secret',
    'chain',
    'sub/out',
    'twin/f',
  ];

  test.each(operations.flatMap(([name, run]) => paths.map((path) => [name, path, run] as const)))(
    'is refused by %s of %s',
    async (_, path, run) => {
      const { root, outside, base } = rootBesideOutside();
      linksOut(root, outside);
      const before = treeOf(base);
      expect(await codeOf(run(hostFilesystem(root), path))).toBe('outside_root');
      expect(treeOf(base)).toEqual(before);
    },
  );

  test('is neither listed nor searched', async () => {
    const { root, outside } = rootBesideOutside();
    linksOut(root, outside);
    writeFileSync(join(root, 'sub/mine'), 'secret');
    const files = hostFilesystem(root);
    expect((await files.list()).map((entry) => entry.name)).toEqual(['sub']);
    expect(await files.glob('**')).toEqual(['sub/mine']);
    expect(await files.grep('secret')).toEqual([{ path: 'sub/mine', line: 1, text: 'secret' }]);
  });

  test('is refused as soon as its target is swapped', async () => {
    const { root, outside } = rootBesideOutside();
    writeFileSync(join(root, 'inside'), 'mine');
    symlinkSync('inside', join(root, 'link'));
    const files = hostFilesystem(root);
    expect(await files.readText('link')).toBe('mine');
    unlinkSync(join(root, 'link'));
    symlinkSync(join(outside, 'secret'), join(root, 'link'));
    expect(await codeOf(files.readText('link'))).toBe('outside_root');
  });

  test('that replaces a file between check and use is refused', async () => {
    const { root, outside, base } = rootBesideOutside();
    writeFileSync(join(root, 'f'), 'mine');
    const place = await findPlace(root, 'f');
    unlinkSync(join(root, 'f'));
    symlinkSync(join(outside, 'secret'), join(root, 'f'));
    const before = treeOf(base);
    await expect(readFileBytes(place, 1000)).rejects.toMatchObject({ code: 'outside_root' });
    await expect(writeFileBytes(place, Buffer.from('x'), 'overwrite')).rejects.toMatchObject({ code: 'io' });
    expect(treeOf(base)).toEqual(before);
  });

  test('that replaces a directory between check and use is refused', async () => {
    const { root, outside, base } = rootBesideOutside();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd/secret'), 'mine');
    const place = await findPlace(root, 'd/secret');
    rmSync(join(root, 'd'), { recursive: true });
    symlinkSync(outside, join(root, 'd'));
    const before = treeOf(base);
    await expect(readFileBytes(place, 1000)).rejects.toMatchObject({ code: 'outside_root' });
    await expect(writeFileBytes(place, Buffer.from('x'), 'overwrite')).rejects.toMatchObject({ code: 'outside_root' });
    expect(treeOf(base)).toEqual(before);
  });

  test.each([['secret'], ['new']])(
    'that replaces a directory before an undo of %s is not followed by the write',
    async (name) => {
      const { root, outside, base } = rootBesideOutside();
      mkdirSync(join(root, 'd'));
      if (name === 'secret') writeFileSync(join(root, 'd/secret'), 'mine');
      const undo = await hostFilesystem(root).capture(`d/${name}`);
      renameSync(join(root, 'd'), join(root, 'moved'));
      symlinkSync(outside, join(root, 'd'));
      writeFileSync(join(outside, 'new'), 'foreign');
      const before = treeOf(base);
      expect(await codeOf(undo())).toBe('outside_root');
      expect(treeOf(base)).toEqual(before);
    },
  );

  test('that replaces a directory before an undo is not followed to restore a link', async () => {
    const { root, outside, base } = rootBesideOutside();
    mkdirSync(join(root, 'd'));
    symlinkSync('nowhere', join(root, 'd/link'));
    const undo = await hostFilesystem(root).capture('d/link');
    renameSync(join(root, 'd'), join(root, 'moved'));
    symlinkSync(outside, join(root, 'd'));
    const before = treeOf(base);
    expect(await codeOf(undo())).toBe('outside_root');
    expect(treeOf(base)).toEqual(before);
  });

  test('is treated like a link to another directory inside, where an undo would hit the wrong file', async () => {
    const { root } = rootBesideOutside();
    mkdirSync(join(root, 'd'));
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other/f'), 'foreign');
    const undo = await hostFilesystem(root).capture('d/f');
    renameSync(join(root, 'd'), join(root, 'moved'));
    symlinkSync('other', join(root, 'd'));
    expect(await codeOf(undo())).toBe('outside_root');
    expect(readFileSync(join(root, 'other/f'), 'utf8')).toBe('foreign');
  });

  test('names nothing of the machine in its message', async () => {
    const { root, outside } = rootBesideOutside();
    linksOut(root, outside);
    const message = await hostFilesystem(root)
      .readText('file')
      .catch((error: Error) => error.message);
    expect(message).toBe('"file": leads out of the root through a symbolic link.');
  });
});

describe('a symbolic link that stays inside the root', () => {
  test('is followed, and a transaction restores its target', async () => {
    const { root } = rootWithLinks();
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    const files = transaction.filesystem;
    for (const path of ['link', 'absolute', 'around', 'dir/f']) {
      expect(await files.readText(path)).toBe('real');
      await files.writeText(path, `by ${path}`);
      expect(readFileSync(join(root, 'real/f'), 'utf8')).toBe(`by ${path}`);
      await files.writeText(path, 'real');
    }
    await files.writeText('link', 'changed');
    await files.writeText('dir/new/f', 'new');
    await transaction.rollback();
    expect(treeOf(root)).toEqual(before);
  });

  test('is itself deleted by a delete and restored by an undo', async () => {
    const { root } = rootWithLinks();
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    await transaction.filesystem.delete('link');
    await transaction.filesystem.delete('dir');
    await transaction.filesystem.delete('dangling');
    expect(Object.keys(treeOf(root))).toEqual(['absolute', 'around', 'real', 'real/f']);
    await transaction.filesystem.writeText('link', 'a file now');
    await transaction.filesystem.writeText('dir/f', 'a directory now');
    await transaction.rollback();
    expect(treeOf(root)).toEqual(before);
  });

  test('at the start of a chain is the only one that a delete removes', async () => {
    const { root } = rootWithLinks();
    symlinkSync('link', join(root, 'head'));
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    await transaction.filesystem.delete('head');
    expect(Object.keys(before).filter((path) => !(path in treeOf(root)))).toEqual(['head']);
    await transaction.rollback();
    expect(treeOf(root)).toEqual(before);
  });

  test('may dangle: a write creates its target, and an undo removes it', async () => {
    const { root } = rootWithLinks();
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    expect(await codeOf(transaction.filesystem.readText('dangling'))).toBe('not_found');
    await transaction.filesystem.writeText('dangling', 'x');
    expect(readFileSync(join(root, 'made/f'), 'utf8')).toBe('x');
    symlinkSync('nope/../fresh/g', join(root, 'zigzag'));
    await transaction.filesystem.writeText('zigzag', 'y');
    expect(readFileSync(join(root, 'fresh/g'), 'utf8')).toBe('y');
    expect(Object.keys(treeOf(root))).not.toContain('nope');
    await transaction.rollback();
    unlinkSync(join(root, 'zigzag'));
    expect(treeOf(root)).toEqual(before);
  });

  test('is listed with the kind of its target, and found as a file but not entered', async () => {
    const { root } = rootWithLinks();
    const files = hostFilesystem(root);
    expect(await files.list()).toEqual([
      { name: 'absolute', path: 'absolute', kind: 'file' },
      { name: 'around', path: 'around', kind: 'file' },
      { name: 'dir', path: 'dir', kind: 'directory' },
      { name: 'link', path: 'link', kind: 'file' },
      { name: 'real', path: 'real', kind: 'directory' },
    ]);
    expect(await files.glob('**/f')).toEqual(['real/f']);
    expect(await files.glob('dir/*')).toEqual(['dir/f']);
    expect(await files.glob('l*')).toEqual(['link']);
  });

  test('that is part of a cycle is refused, not followed for ever', async () => {
    const { root } = rootBesideOutside();
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd/f'), 'x');
    symlinkSync('../d', join(root, 'd/self'));
    const files = hostFilesystem(root);
    for (const path of ['a', 'a/f']) expect(await codeOf(files.writeText(path, ''))).toBe('bad_path');
    expect(await files.glob('**')).toEqual(['d/f']);
    expect(await files.grep('x')).toHaveLength(1);
    expect(await files.readText('d/self/self/f')).toBe('x');
  });
});

describe('an entry that is neither file nor directory', () => {
  test('is refused without waiting for it', async () => {
    const { root } = rootBesideOutside();
    makePipe(join(root, 'pipe'));
    symlinkSync('pipe', join(root, 'link'));
    const files = hostFilesystem(root);
    for (const path of ['pipe', 'link']) {
      expect(await codeOf(files.readText(path))).toBe('special_file');
      expect(await codeOf(files.writeText(path, ''))).toBe('special_file');
      expect(await codeOf(files.stat(path))).toBe('special_file');
      expect(await codeOf(files.capture(path))).toBe('special_file');
    }
    expect(await codeOf(files.delete('pipe'))).toBe('special_file');
    expect(await files.list()).toEqual([]);
    expect(await files.grep('x')).toEqual([]);
  });

  test('is not waited for if it replaced a file a moment ago', async () => {
    const { root } = rootBesideOutside();
    writeFileSync(join(root, 'f'), '');
    const place = await findPlace(root, 'f');
    unlinkSync(join(root, 'f'));
    makePipe(join(root, 'f'));
    await expect(readFileBytes(place, 1000)).rejects.toMatchObject({ code: 'special_file' });
    await expect(writeFileBytes(place, Buffer.from('x'), 'overwrite')).rejects.toMatchObject({ code: 'io' });
  });
});

describe('an undo on the host', () => {
  test('[T33] restores bytes that are not text, permissions and date', async () => {
    const { root } = rootBesideOutside();
    const at = join(root, 'f');
    writeFileSync(at, binary);
    chmodSync(at, 0o4751);
    utimesSync(at, 1000, 2000.5);
    const before = treeOf(root);
    for (const change of [(files: Filesystem) => files.writeText('f', 'x'), (files: Filesystem) => files.delete('f')]) {
      const transaction = openFileTransaction(hostFilesystem(root));
      await change(transaction.filesystem);
      expect(treeOf(root)).not.toEqual(before);
      await transaction.rollback();
      expect(treeOf(root)).toEqual(before);
      expect(statSync(at).mtimeMs).toBe(2000.5 * 1000);
    }
  });

  test('restores the mode of a deleted directory', async () => {
    const { root } = rootBesideOutside();
    mkdirSync(join(root, 'd'));
    chmodSync(join(root, 'd'), 0o2750);
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    await transaction.filesystem.delete('d');
    expect(treeOf(root)).toEqual({});
    await transaction.rollback();
    expect(treeOf(root)).toEqual(before);
  });

  test.each<[string, (files: Filesystem) => Promise<unknown>[]]>([
    ['made anew', (files) => [files.delete('d/f'), files.delete('d'), files.writeText('d/f', 'new')]],
    [
      'made anew, deleted again and made a file',
      (files) => [
        ...[files.delete('d/f'), files.delete('d'), files.writeText('d/e/g', '')],
        ...[files.delete('d/e/g'), files.delete('d/e'), files.delete('d'), files.writeText('d', 'file')],
      ],
    ],
  ])('[T33] restores a deleted directory that was %s', async (_, change) => {
    const { root } = rootBesideOutside();
    mkdirSync(join(root, 'd'), { mode: 0o700 });
    writeFileSync(join(root, 'd/f'), 'before');
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    await Promise.all(change(transaction.filesystem));
    await transaction.rollback();
    expect(treeOf(root)).toEqual(before);
  });

  test('restores the group of a deleted file', async () => {
    const { root } = rootBesideOutside();
    const group = someOtherGroup();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'f'), 'x');
    for (const name of ['d', 'f']) chownSync(join(root, name), -1, group);
    chmodSync(join(root, 'f'), 0o2755);
    const before = treeOf(root);
    const transaction = openFileTransaction(hostFilesystem(root));
    for (const name of ['d', 'f']) await transaction.filesystem.delete(name);
    await transaction.rollback();
    expect(['d', 'f'].map((name) => statSync(join(root, name)).gid)).toEqual([group, group]);
    expect(treeOf(root)).toEqual(before);
  });

  test('does not write a file that holds the right bytes already', async () => {
    const { root } = rootBesideOutside();
    writeFileSync(join(root, 'f'), 'same');
    const { ctimeNs } = statSync(join(root, 'f'), { bigint: true });
    const undo = await hostFilesystem(root).capture('f');
    // The change time of the host is coarse: a write within the same tick would not be noticed.
    do writeFileSync(join(root, 'probe'), '');
    while (statSync(join(root, 'probe'), { bigint: true }).ctimeNs === ctimeNs);
    await undo();
    expect(statSync(join(root, 'f'), { bigint: true }).ctimeNs).toBe(ctimeNs);
  });

  test('writes in place: other hard links see it, and the inode stays the same', async () => {
    const { root } = rootBesideOutside();
    writeFileSync(join(root, 'f'), 'before');
    linkSync(join(root, 'f'), join(root, 'twin'));
    const { ino } = lstatSync(join(root, 'f'));
    const transaction = openFileTransaction(hostFilesystem(root));
    await transaction.filesystem.writeText('f', 'after');
    expect(readFileSync(join(root, 'twin'), 'utf8')).toBe('after');
    await transaction.rollback();
    expect(readFileSync(join(root, 'twin'), 'utf8')).toBe('before');
    expect(lstatSync(join(root, 'f')).ino).toBe(ino);
  });

  test('[T33] leaves untracked, ignored and foreign files as they are', async () => {
    const { root } = rootBesideOutside();
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.gitignore'), 'ignored\n');
    writeFileSync(join(root, 'ignored'), 'i');
    writeFileSync(join(root, 'f'), 'before');
    const transaction = openFileTransaction(hostFilesystem(root));
    await transaction.filesystem.writeText('f', 'after');
    await transaction.filesystem.writeText('made/by/call', 'x');
    writeFileSync(join(root, 'ignored'), 'changed by somebody else');
    writeFileSync(join(root, 'made/foreign'), binary);
    await transaction.rollback();
    expect(Object.keys(treeOf(root))).toEqual(['.git', '.gitignore', 'f', 'ignored', 'made', 'made/foreign']);
    expect(readFileSync(join(root, 'ignored'), 'utf8')).toBe('changed by somebody else');
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('before');
  });
});

describe('content that a host may have and this file system does not accept', () => {
  test('that is not UTF-8 is refused as text and skipped by a search', async () => {
    const { root } = rootBesideOutside();
    writeFileSync(join(root, 'b'), Buffer.from([0x61, 0xff]));
    writeFileSync(join(root, 'c'), 'a');
    const files = hostFilesystem(root);
    expect(await codeOf(files.readText('b'))).toBe('not_text');
    expect(await files.grep('a')).toEqual([{ path: 'c', line: 1, text: 'a' }]);
  });

  test('that is too large to be restored is not touched', async () => {
    const { root } = rootBesideOutside();
    writeFileSync(join(root, 'big'), 'x'.repeat(101));
    const files = hostFilesystem(root, { maxFileBytes: 100 });
    const transaction = openFileTransaction(files);
    expect(await codeOf(files.readText('big'))).toBe('too_large');
    expect(await codeOf(transaction.filesystem.writeText('big', ''))).toBe('too_large');
    expect(await codeOf(transaction.filesystem.delete('big'))).toBe('too_large');
    expect(await files.grep('x')).toEqual([]);
    expect(statSync(join(root, 'big')).size).toBe(101);
  });

  test('with a name we would refuse is not listed', async () => {
    const { root } = rootBesideOutside();
    for (const name of ['a\\b', 'a\nb', 'ok']) writeFileSync(join(root, name), '');
    const files = hostFilesystem(root);
    expect((await files.list()).map((entry) => entry.name)).toEqual(['ok']);
    expect(await files.glob('**')).toEqual(['ok']);
  });
});

function rootBesideOutside(): { base: string; root: string; outside: string } {
  const base = scratchDirectory();
  const [root, outside] = [join(base, 'root'), join(base, 'outside')];
  mkdirSync(root);
  mkdirSync(outside);
  mkdirSync(join(base, 'root-twin'));
  writeFileSync(join(outside, 'secret'), 'secret');
  return { base, root, outside };
}

function linksOut(root: string, outside: string): void {
  mkdirSync(join(root, 'sub'));
  symlinkSync(join(outside, 'secret'), join(root, 'file'));
  symlinkSync(outside, join(root, 'dir'));
  symlinkSync(join(outside, 'not-there'), join(root, 'dangling'));
  symlinkSync('../outside', join(root, 'up'));
  symlinkSync('file', join(root, 'chain'));
  symlinkSync('../../outside/secret', join(root, 'sub/out'));
  // A sibling whose name starts with the root's name.
  symlinkSync('../root-twin', join(root, 'twin'));
}

/** Creates a named pipe. Opening one blocks until another process opens the other end, unless it is opened without blocking. */
function makePipe(at: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', at]);
}

/** Only the superuser can give a file to any group; other users, to one of their groups. */
function someOtherGroup(): number {
  if (process.getuid?.() === 0) return 12_345;
  return process.getgroups?.().find((group) => group !== process.getgid?.()) ?? process.getgid?.() ?? 0;
}

function rootWithLinks(): { root: string } {
  const { root } = rootBesideOutside();
  mkdirSync(join(root, 'real'));
  writeFileSync(join(root, 'real/f'), 'real');
  symlinkSync('real/f', join(root, 'link'));
  symlinkSync(join(root, 'real/f'), join(root, 'absolute'));
  symlinkSync('../root/real/../real/f', join(root, 'around'));
  symlinkSync('real', join(root, 'dir'));
  symlinkSync('made/f', join(root, 'dangling'));
  return { root };
}
