import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf, filer, openFiling, textOf, work, working } from './filing.ts';

const put = { method: 'PUT' };

test('[A9] files are listed by path, page by page, and read as JSON or as text', async () => {
  await using filing = await openFiling([
    working({ write: { 'b/c.txt': 'hello\n', 'a.txt': 'ä', 'b.txt': '' } }),
    'Done.',
  ]);
  await filing.wake();
  const path = `/api/agents/${filing.id}/files`;
  const first = await filing.api(`${path}?limit=2`);
  expect(first).toMatchObject({
    items: [
      { path: 'a.txt', size: 2 },
      { path: 'b.txt', size: 0 },
    ],
    next: expect.any(String),
  });
  const second = await filing.api(`${path}?limit=2&cursor=${first.next}`);
  const changed = {
    changedAt: expect.any(Number),
    changedBy: { callId: expect.any(String), runId: expect.any(String) },
  };
  expect(second).toEqual({ items: [{ path: 'b/c.txt', size: 6, ...changed }] });
  expect(await filing.api(`${path}/b/c.txt`)).toEqual({ path: 'b/c.txt', size: 6, content: 'hello\n', ...changed });
  const text = await fetch(`${filing.url}${path}/b/c.txt`, {
    headers: { authorization: `Bearer ${filing.secretKey}`, accept: 'text/plain' },
  });
  expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await text.text()).toBe('hello\n');
  expect((await filing.file('none.txt')).status).toBe(404);
  expect((await filing.request('/api/agents/none/files')).status).toBe(404);
});

test('[A9] [O2] the files of a conversation are found only through its own agent', async () => {
  await using filing = await openFiling(['Hello.']);
  const other = await filing.api('/api/agents', { name: 'Other', instructions: 'Help.' });
  const { context_id: contextId } = await filing.api('/chat', { agent: filing.id, message: 'Hi.' });
  const list = async (agentId: string) =>
    (await filing.request(`/api/agents/${agentId}/files?contextId=${contextId}`)).status;
  expect([await list(filing.id), await list(other.id)]).toEqual([200, 404]);
});

test('[A9] people put and delete files, and the next run sees them', async () => {
  await using filing = await openFiling([working({ read: 'todo.md' }), 'Done.', working({ list: '' }), 'Done.']);
  const written = await (await filing.file('todo.md', { content: '- buy milk' }, put)).json();
  expect(written).toMatchObject({ path: 'todo.md', size: 10, changedBy: { keyId: expect.any(String) } });
  await filing.wake();
  expect(filing.lastResult()).toContain('buy milk');
  expect(await (await filing.file('todo.md', undefined, { method: 'DELETE' })).json()).toEqual({ path: 'todo.md' });
  expect((await filing.file('todo.md', undefined, { method: 'DELETE' })).status).toBe(404);
  expect(await (await filing.file('notes//day.md', { content: '' }, put)).json()).toMatchObject({
    path: 'notes/day.md',
  });
  const deleted = await filing.file('notes//day.md', undefined, { method: 'DELETE' });
  expect(await deleted.json()).toEqual({ path: 'notes/day.md' });
  await filing.wake();
  expect(filing.lastResult()).toContain('"all":[]');
});

test('[A9] a body that is not JSON is the text of the file', async () => {
  await using filing = await openFiling([]);
  const send = async (body: string | Uint8Array, type?: string) =>
    await fetch(`${filing.url}/api/agents/${filing.id}/files/raw/x.json`, {
      method: 'PUT',
      body,
      headers: { authorization: `Bearer ${filing.secretKey}`, ...(type === undefined ? {} : { 'content-type': type }) },
    });
  expect((await send('{"not": "content"}', 'text/plain')).status).toBe(200);
  expect(await textOf(filing, 'raw/x.json')).toBe('{"not": "content"}');
  expect((await send(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).status).toBe(200);
  expect(await textOf(filing, 'raw/x.json')).toBe('\uFEFFa');
  expect((await send('', 'text/plain')).status).toBe(200);
  expect(await textOf(filing, 'raw/x.json')).toBe('');
  const binary = await send(new Uint8Array([0xff, 0x00]), 'application/octet-stream');
  expect([binary.status, (await errorOf(binary))?.code]).toEqual([400, 'invalid_utf8']);
  expect((await send('{"not": "content"}', 'application/json')).status).toBe(422);
});

test('[A9] reading needs the scope `read`, and changing the scope `write`', async () => {
  await using filing = await openFiling([]);
  await filing.file('a.txt', { content: '1' }, put);
  const keyWith = async (...scopes: string[]) => (await filing.api('/api/keys', { name: 'k', scopes })).key as string;
  const [reader, writer] = [await keyWith('read'), await keyWith('read', 'write')];
  expect((await filing.file('a.txt', undefined, { key: reader })).status).toBe(200);
  expect((await filing.file('a.txt', { content: '2' }, { ...put, key: reader })).status).toBe(403);
  expect((await filing.file('a.txt', undefined, { method: 'DELETE', key: reader })).status).toBe(403);
  expect((await filing.file('a.txt', { content: '2' }, { ...put, key: writer })).status).toBe(200);
  expect(await textOf(filing, 'a.txt')).toBe('2');
});

test('[X7] a file is read without the secrets that the gateway knows, as JSON and as text', async () => {
  const secret = 'sk-live_0123456789+/abcdef';
  await using filing = await openFiling([], { secrets: ['API_KEY'], env: { API_KEY: secret } });
  await filing.file('env.txt', { content: `KEY=${secret}\n` }, put);
  expect(await textOf(filing, 'env.txt')).toBe('KEY=[redacted]\n');
  const text = await fetch(`${filing.url}/api/agents/${filing.id}/files/env.txt`, {
    headers: { authorization: `Bearer ${filing.secretKey}`, accept: 'text/plain' },
  });
  expect(await text.text()).toBe('KEY=[redacted]\n');
});

test('[A9] an active run sees the writes of a person, and the last stored write wins', async () => {
  const person = tool({
    description: 'A person writes files while a call writes them too.',
    inputSchema: z.object({}),
    effects: 'session',
    async execute(_input, { filesystem }) {
      await filesystem.writeText('both.txt', 'by the call');
      expect((await filing.file('both.txt', { content: 'by the person' }, put)).status).toBe(200);
      expect((await filing.file('new.txt', { content: 'by the person' }, put)).status).toBe(200);
      return await filesystem.readText('both.txt');
    },
  });
  await using filing = await openFiling([[{ toolName: 'person', input: {} }], working({ read: 'new.txt' }), 'Done.'], {
    definition: filer({ tools: { work, person } }),
  });
  await filing.wake();
  expect(filing.lastResult()).toContain('by the person');
  expect(await textOf(filing, 'both.txt')).toBe('by the call');
});

test('[A9] the timeline of a run has the lines that each call changed', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
  await using filing = await openFiling([
    working({ write: { 'a.txt': lines.join('') } }),
    working({ write: { 'a.txt': lines.with(9, 'changed\n').join('') }, append: { 'b.txt': 'new\n' } }),
    working({ write: { 'a.txt': 'lost' }, fail: true }),
    working({ delete: ['b.txt'] }),
    'Done.',
  ]);
  await filing.wake();
  const [run] = (await filing.api(`/api/runs?agentId=${filing.id}`)).items;
  const { items: entries } = await filing.api(`/api/runs/${run.id}/transcript?limit=200`);
  const changes = entries.flatMap((one: { changes?: unknown }) => (one.changes === undefined ? [] : [one.changes]));
  expect(changes).toHaveLength(4);
  expect(changes[1]).toEqual({
    committed: [
      {
        kind: 'file',
        name: 'a.txt',
        count: 1,
        sample: 'written',
        diff: '@@ -8 +8 @@\n line 8\n line 9\n-line 10\n+changed\n line 11\n line 12',
      },
      { kind: 'file', name: 'b.txt', count: 1, sample: 'written', diff: '@@ -1 +1 @@\n+new' },
    ],
    discarded: [],
  });
  expect(changes[2]).toEqual({
    committed: [],
    discarded: [{ kind: 'file', name: 'a.txt', count: 1, sample: 'written' }],
  });
  expect(changes[3].committed).toEqual([
    { kind: 'file', name: 'b.txt', count: 1, sample: 'deleted', diff: '@@ -1 +1 @@\n-new' },
  ]);
});
