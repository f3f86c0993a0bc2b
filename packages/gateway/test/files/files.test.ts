import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { forEachTest } from '../support/for-all-tests.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { databases } from '../support/stores.ts';
import { errorOf, filer, openFiling, resultOf, textOf, work, working } from './filing.ts';

const ask = () => ({ agent: 'Filer', message: 'Go.' });

describe.each(databases)('files of an agent on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('[A8] the files that a call wrote exist in the next run, and on another gateway', async () => {
    {
      await using filing = await openFiling(
        [
          working({ write: { 'notes/a.md': 'one\n', 'b.txt': 'b' } }),
          'Done.',
          working({ append: { 'notes/a.md': 'two\n' } }),
          'Done.',
        ],
        { database },
      );
      await filing.wake();
      await filing.wake();
      expect(await filing.files()).toEqual(['b.txt', 'notes/a.md']);
    }
    await using again = await openFiling(
      [working({ read: 'notes/a.md', list: '', grep: 'two' }), 'Done.', working({ delete: ['b.txt'] }), 'Done.'],
      { database },
    );
    await again.wake();
    const result = again.lastResult();
    expect(result).toContain('one\\ntwo\\n');
    for (const part of ['file b.txt', 'directory notes', 'notes/a.md:2']) expect(result).toContain(part);
    await again.wake();
    expect(await again.files()).toEqual(['notes/a.md']);
  });

  test('[A8] [T27] a failed call leaves the files unchanged', async () => {
    await using filing = await openFiling(
      [
        working({ write: { 'a.txt': 'kept', 'b.txt': 'kept' } }),
        working({ write: { 'a.txt': 'lost', 'new.txt': 'lost' }, delete: ['b.txt'], fail: true }),
        working({ read: 'a.txt' }),
        'Done.',
      ],
      { database },
    );
    await filing.wake();
    expect(filing.lastResult()).toContain('kept');
    expect(await filing.files()).toEqual(['a.txt', 'b.txt']);
    expect(await textOf(filing, 'a.txt')).toBe('kept');
  });

  test('[A8] any text comes back as it was written', async () => {
    const text = 'NUL \0, half "quoted" \\ and 😀\r\n\uFEFFend';
    await using filing = await openFiling([working({ write: { 'ä/😀.txt': text } }), 'Done.'], { database });
    await filing.wake();
    expect(await textOf(filing, encodeURIComponent('ä/😀.txt'))).toBe(text);
    expect(await textOf(filing, `${encodeURIComponent('ä')}/${encodeURIComponent('😀.txt')}`)).toBe(text);
  });

  test('[A8] each conversation has its own files', async () => {
    await using filing = await openFiling(
      [
        working({ write: { 'mine.txt': '1' } }),
        'Done.',
        working({ list: '' }),
        'Done.',
        working({ read: 'mine.txt' }),
        'Done.',
      ],
      { database },
    );
    const { context_id } = await filing.api('/api/chat', ask());
    await filing.api('/api/chat', ask());
    expect(filing.lastResult()).toContain('"all":[]');
    await filing.api('/api/chat', { context_id, message: 'Go.' });
    expect(filing.lastResult()).toContain('"read":"1"');
    expect(await filing.files()).toEqual([]);
    expect(await filing.files(`&contextId=${context_id}`)).toEqual(['mine.txt']);
    const put = await filing.file(`yours.txt?contextId=${context_id}`, { content: '2' }, { method: 'PUT' });
    expect(put.status).toBe(200);
    expect(await filing.files(`&contextId=${context_id}`)).toEqual(['mine.txt', 'yours.txt']);
    expect((await filing.request(`/contexts/${context_id}`, undefined, { method: 'DELETE' })).status).toBe(200);
    await filing.stop();
    const store = await database.open();
    expect(await store.db.selectFrom('files').select('path').execute()).toEqual([]);
    await store.close();
  });

  test('[A14] a rewind restores the files of the start of the run, and keeps the writes of a person', async () => {
    const rewind = [{ toolName: 'rewind', input: { reason: 'Wrong.', guidance: 'Again.' } }];
    const replies: Parameters<typeof openFiling>[0] = [
      working({ write: { 'a.txt': 'before', 'gone.txt': 'before', 'person.txt': 'before' } }),
      'Done.',
      working({ write: { 'a.txt': '1', 'new.txt': '1', 'person.txt': '1' }, delete: ['gone.txt'] }),
      working({ write: { 'a.txt': '2' } }),
      [{ toolName: 'person', input: {} }],
      rewind,
      working({ read: 'a.txt' }),
      'Done.',
    ];
    const person = tool({
      description: 'A person writes a file.',
      inputSchema: z.object({}),
      effects: 'session',
      async execute() {
        await filing.file('person.txt', { content: 'by a person' }, { method: 'PUT' });
        return 'written';
      },
    });
    const definition = filer({ rewind: true, tools: { ...filer().tools, person } });
    await using filing = await openFiling(replies, { database, definition });
    await filing.wake();
    await filing.wake();
    expect(filing.lastResult()).toContain('"read":"before"');
    expect(await filing.files()).toEqual(['a.txt', 'gone.txt', 'person.txt']);
    expect(await textOf(filing, 'gone.txt')).toBe('before');
    expect(await textOf(filing, 'person.txt')).toBe('by a person');
    await filing.stop();
    const store = await database.open();
    expect(await store.db.selectFrom('file_undo').select('path').execute()).toEqual([]);
    await store.close();
  });

  test('[A14] a rewind does not restore a file that a person has deleted meanwhile', async () => {
    const person = tool({
      description: 'A person deletes a file.',
      inputSchema: z.object({}),
      effects: 'session',
      async execute() {
        await filing.file('a.txt', undefined, { method: 'DELETE' });
        return 'deleted';
      },
    });
    const definition = filer({ rewind: true, tools: { ...filer().tools, person } });
    const replies: Parameters<typeof openFiling>[0] = [
      working({ write: { 'a.txt': 'before', 'b.txt': 'before' } }),
      'Done.',
      working({ write: { 'a.txt': '1', 'b.txt': '1' } }),
      [{ toolName: 'person', input: {} }],
      [{ toolName: 'rewind', input: { reason: 'Wrong.', guidance: 'Again.' } }],
      working({ read: 'b.txt' }),
      'Done.',
    ];
    await using filing = await openFiling(replies, { database, definition });
    await filing.wake();
    await filing.wake();
    expect(filing.lastResult()).toContain('"read":"before"');
    expect(await filing.files()).toEqual(['b.txt']);
  });

  test('[A8] files are kept after an approval, and after a compaction', async () => {
    const approved = { ...work, approval: true } as typeof work;
    const padding = 'x'.repeat(4_000);
    const replies = [
      working({ write: { 'a.txt': 'one' } }),
      `Done. ${padding}`,
      [{ toolName: 'approved', input: { append: { 'a.txt': ' two' } } }],
      `Asked. ${padding}`,
      `Approved. ${padding}`,
      working({ read: 'a.txt' }),
      'Done.',
    ];
    const isSummary = (prompt: readonly { readonly role: string; readonly content: unknown }[]): boolean =>
      String(prompt[0]?.content).startsWith('You keep the memory');
    await using filing = await openFiling(
      ({ prompt }) => (isSummary(prompt) ? 'Files were written.' : (replies.shift() ?? 'Done.')),
      {
        database,
        definition: filer({ tools: { work, approved } }),
        agents: [{ name: 'Filer', definition: 'filer', limits: { consciousnessTokens: 500 } }],
      },
    );
    await filing.wake();
    await filing.wake();
    const [pending] = (await filing.api('/api/pending')).items;
    expect(await textOf(filing, 'a.txt')).toBe('one');
    await filing.api(`/api/runs/${pending.runId}/tool-results`, { callId: pending.callId, approve: true });
    await expect.poll(() => textOf(filing, 'a.txt'), { timeout: 10_000 }).toBe('one two');
    await filing.wake();
    expect(filing.lastResult()).toContain('"read":"one two"');
    expect(JSON.stringify(filing.model.requests.at(-1)?.prompt)).toContain('Files were written.');
  });

  test('[A8] the files of a deleted agent are deleted', async () => {
    await using filing = await openFiling([working({ write: { 'a.txt': '1' } }), 'Done.'], { database });
    await filing.wake();
    await filing.request(`/api/agents/${filing.id}`, undefined, { method: 'DELETE' });
    expect((await filing.file('a.txt')).status).toBe(404);
    await filing.stop();
    const store = await database.open();
    expect(await store.db.selectFrom('files').select('path').execute()).toEqual([]);
    await store.close();
  });
});

describe('limits of files', () => {
  test('[A8] a write over the limit of a file, of all files or of their number fails the call, with the limit in the message', async () => {
    await using filing = await openFiling(
      [
        working({ write: { 'big.txt': 'x'.repeat(11) } }),
        working({ write: { 'a.txt': 'x'.repeat(10), 'b.txt': 'x'.repeat(10), 'c.txt': 'x'.repeat(6) } }),
        working({ write: { 'a.txt': '', 'b.txt': '', 'c.txt': '', 'd.txt': '' } }),
        working({ write: { 'a.txt': 'ä'.repeat(5) } }),
        'Done.',
      ],
      { agents: [{ name: 'Filer', definition: 'filer', limits: { fileBytes: 10, filesBytes: 25, maxFiles: 3 } }] },
    );
    await filing.wake();
    const results = filing.model.requests.slice(1).map(resultOf);
    expect(results[0]).toContain('over the limit of 10 bytes a file');
    expect(results[1]).toContain('all files together would have 26 bytes, over the limit of 25');
    expect(results[2]).toContain('over the limit of 3 files');
    expect(results[3]).toContain('"all":["a.txt"]');
    expect(await filing.files()).toEqual(['a.txt']);
    const put = async (path: string, content: string) => {
      const answer = await filing.file(path, { content }, { method: 'PUT' });
      return `${answer.status} ${(await errorOf(answer))?.message ?? ''}`;
    };
    expect(await put('p.txt', 'x'.repeat(11))).toContain('413 "p.txt": is over the limit of 10 bytes a file');
    expect(await put('p.txt', 'x'.repeat(10))).toBe('200 ');
    expect(await put('q.txt', 'x'.repeat(6))).toContain('413 "q.txt": all files together would have 26 bytes');
  });

  test('[A8] the defaults are 1 MB a file and 20 MB an agent, and the gateway can set others', async () => {
    await using filing = await openFiling([
      working({ write: { 'a.txt': 'x'.repeat(1_000_001) } }),
      working({ write: { 'a.txt': 'x'.repeat(1_000_000) } }),
      'Done.',
    ]);
    await filing.wake();
    expect(resultOf(filing.model.requests[1])).toContain('over the limit of 1000000 bytes a file');
    expect(await filing.files()).toEqual(['a.txt']);
    await using small = await openFiling([working({ write: { 'a.txt': '123' } }), 'Done.'], {
      limits: { agent: { fileBytes: 2 } },
    });
    await small.wake();
    expect(small.lastResult()).toContain('over the limit of 2 bytes a file');
  });
});

describe('paths of files', () => {
  test.each([
    ['../a', 'leads out of the root'],
    ['a/../../b', 'leads out of the root'],
    ['a\\b', 'holds a backslash'],
    ['a\0b', 'holds a control character'],
    ['x'.repeat(256), 'has a name over 255 bytes'],
    [`${'x'.repeat(200)}/`.repeat(3), 'is over 500 bytes'],
    ['', 'is a directory, not a file'],
    [' / ', 'has a name of white space alone'],
    ['file.txt/below', 'leads through a file'],
    ['dir', 'is a directory, not a file'],
  ])('[A8] a write to %j is refused with the reason', async (path, reason) => {
    await using filing = await openFiling([
      working({ write: { 'file.txt': '1', 'dir/x': '1' } }),
      working({ write: { [path]: '2' } }),
      'Done.',
    ]);
    await filing.wake();
    expect(filing.lastResult()).toContain(reason);
    expect(await filing.files()).toEqual(['dir/x', 'file.txt']);
    if (path === '') return;
    const answer = await filing.file(encodeURIComponent(path), { content: 'x' }, { method: 'PUT' });
    expect(answer.status).toBe(422);
    expect((await errorOf(answer))?.message).toContain(reason);
  });

  test('[A8] other spellings of a path mean the same file', async () => {
    await using filing = await openFiling([working({ write: { '/a/./b.txt': '1' }, read: 'a//b.txt' }), 'Done.']);
    await filing.wake();
    expect(filing.lastResult()).toContain('"read":"1"');
    expect(await filing.files()).toEqual(['a/b.txt']);
  });
});

test('[A8] without files: true, writing a file is refused with a hint, for tools and for people', async () => {
  const home = await scratchFolder('files');
  await using filing = await openFiling([working({ write: { 'a.txt': '1' } }), 'Done.'], {
    home,
    definition: filer({ files: false }),
  });
  await filing.wake();
  expect(filing.lastResult()).toContain('are not kept. Give its definition files: true');
  const put = await filing.file('a.txt', { content: '1' }, { method: 'PUT' });
  expect(put.status).toBe(409);
  expect(await errorOf(put)).toMatchObject({ code: 'no_files' });
});
