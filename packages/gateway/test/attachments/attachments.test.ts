import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sweepUploads } from '../../src/domain/artifacts/upload.ts';
import { type ArtifactFiles, createArtifactFiles } from '../../src/ports/artifacts/artifact-files.ts';
import { readSentFile } from '../../src/transport/http/file-form.ts';
import { openApi, toRequest } from '../http/api.ts';
import { PNG } from '../images/painter.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

const DAY_MS = 86_400_000;

describe.each(databases)('files of messages on $kind', ({ create }) => {
  const database = forEachTest(create);
  const folder = forEachTest(async () => {
    const path = await mkdtemp(join(tmpdir(), 'lastcall-files-'));
    return { path, close: () => rm(path, { recursive: true, force: true }) };
  });
  const api = forEachTest(() =>
    openApi(database, { artifacts: createArtifactFiles(folder.path), limits: { artifactBytes: 10_000 } }),
  );

  const upload = async (secret: string, bytes: Uint8Array | string = PNG, query = 'name=plan.png') => {
    const request = new Request(`http://gateway/api/artifacts?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/html' },
      body: typeof bytes === 'string' ? bytes : Buffer.from(bytes),
    });
    const response = await api.app.fetch(request);
    return { status: response.status, body: (await response.json()) as Record<string, string> & { id: string } };
  };
  const load = async (path: string, secret: string | null) => await api.app.fetch(toRequest('GET', path, { secret }));

  /** A gateway of its own, with these files. */
  const openOther = async (artifacts: ArtifactFiles) => {
    const own = await create();
    const opened = await openApi(own, { artifacts });
    return {
      api: opened,
      async [Symbol.asyncDispose]() {
        await opened.close();
        await own.remove();
      },
    };
  };

  /** Two people in a space, one in none. */
  const people = async () => {
    const [ada, bob, eve] = [await api.person('Ada'), await api.person('Bob'), await api.person('Eve')];
    const space = await api.space(ada, bob);
    const tokens = { ada: await api.tokenOf(ada), bob: await api.tokenOf(bob), eve: await api.tokenOf(eve) };
    return { ada, bob, eve, space, tokens };
  };
  const post = async (space: string, secret: string, attachments: readonly string[], text = 'Look.') =>
    await api.call('POST', `/api/spaces/${space}/messages`, { secret, body: { text, attachments } });

  test('[O10] an uploaded file can be read only by its uploader, and by the members of the space once it is in a message', async () => {
    const { space, tokens } = await people();
    const { status, body } = await upload(tokens.ada);
    expect([status, body]).toEqual([201, { id: body.id, name: 'plan.png', mediaType: 'image/png', bytes: PNG.length }]);
    const path = `/api/artifacts/${body.id}`;
    expect((await load(path, tokens.ada)).status).toBe(200);
    expect((await load(path, tokens.bob)).status).toBe(404);
    const posted = await post(space, tokens.ada, [body.id]);
    expect(posted.body.attachments).toEqual([body]);
    expect(Buffer.from(await (await load(path, tokens.bob)).arrayBuffer())).toEqual(Buffer.from(PNG));
    expect((await load(path, tokens.eve)).status).toBe(404);
    const { items } = await api.done<{ items: object[] }>('GET', `/api/spaces/${space}/messages`);
    expect(items).toMatchObject([{ text: 'Look.', attachments: [body] }]);
  });

  test('HEAD of a file has the headers of GET, and leaves nothing open', async () => {
    const files = createArtifactFiles(folder.path);
    const open = new Set<string>();
    const noted: ArtifactFiles = {
      ...files,
      async read(id) {
        const reader = (await files.read(id))?.getReader();
        if (reader === undefined) return undefined;
        open.add(id);
        const close = () => void open.delete(id);
        return new ReadableStream<Uint8Array>({
          async pull(controller) {
            const { done, value } = await reader.read();
            if (value !== undefined) controller.enqueue(value);
            if (!done) return;
            close();
            controller.close();
          },
          async cancel() {
            await reader.cancel();
            close();
          },
        });
      },
    };
    await using other = await openOther(noted);
    const secret = await other.api.tokenOf(await other.api.person('Ada'));
    const headersSent = { authorization: `Bearer ${secret}` };
    const sent = new Request('http://gateway/api/artifacts', {
      method: 'POST',
      headers: headersSent,
      body: Buffer.from(PNG),
    });
    const { id } = (await (await other.api.app.fetch(sent)).json()) as { id: string };
    const ask = async (method: string) =>
      await other.api.app.fetch(toRequest(method, `/api/artifacts/${id}`, { secret }));
    const got = await ask('GET');
    await got.arrayBuffer();
    const { status, headers } = await ask('HEAD');
    expect([status, headers.get('content-length')]).toEqual([200, String(PNG.length)]);
    expect(headers.get('content-disposition')).toBe(got.headers.get('content-disposition'));
    expect([...open]).toEqual([]);
  });

  test('a message can be files without a text, up to ten', async () => {
    const { space, tokens } = await people();
    const { body } = await upload(tokens.ada);
    expect((await post(space, tokens.ada, [body.id], '')).status).toBe(201);
    expect((await post(space, tokens.ada, [], '')).status).toBe(422);
    const eleven = Array.from({ length: 11 }, (_, at) => `file-${at}`);
    expect((await post(space, tokens.ada, eleven)).status).toBe(422);
  });

  test('[O10] a file of another person, of another space or that does not exist cannot be attached, and nothing is posted', async () => {
    const { ada, space, tokens } = await people();
    const other = await api.space(ada);
    const { body: own } = await upload(tokens.ada);
    expect((await post(space, tokens.bob, [own.id])).body.error.message).toContain(own.id);
    expect((await post(space, tokens.ada, ['none'])).status).toBe(422);
    expect((await post(space, tokens.ada, [own.id, own.id])).status).toBe(422);
    expect((await post(other, tokens.ada, [own.id])).status).toBe(201);
    expect((await post(space, tokens.ada, [own.id])).status).toBe(422);
    // In the same space it may be attached again.
    expect((await post(other, tokens.ada, [own.id])).status).toBe(201);
    const { items } = await api.done<{ items: object[] }>('GET', `/api/spaces/${space}/messages`);
    expect(items).toEqual([]);
  });

  test('a repeated message has its files, and they are not checked again', async () => {
    const { space, tokens } = await people();
    const { body } = await upload(tokens.ada);
    const sent = { secret: tokens.ada, body: { text: 'Look.', attachments: [body.id], clientMessageId: 'one' } };
    const first = await api.call('POST', `/api/spaces/${space}/messages`, sent);
    const again = await api.call('POST', `/api/spaces/${space}/messages`, sent);
    expect(again.body).toMatchObject({ id: first.body.id, duplicate: true, attachments: [body] });
  });

  test('[O10] a page loads a file by a signed address, until it expires', async () => {
    const { space, tokens } = await people();
    const { body } = await upload(tokens.ada);
    await post(space, tokens.ada, [body.id]);
    const address = (secret: string) => api.call('GET', `/api/artifacts/${body.id}/address`, { secret });
    expect((await address(tokens.eve)).status).toBe(404);
    const { url, expiresAt } = (await address(tokens.bob)).body;
    expect(expiresAt).toBeGreaterThan(Date.now());
    const loaded = await load(url, null);
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, 'image/png']);
    const { searchParams, pathname } = new URL(url, 'http://gateway');
    const signature = searchParams.get('signature') ?? '';
    const forged = (expires: number | string, given = signature) =>
      load(`${pathname}?expires=${expires}&signature=${given}`, null);
    // A later expiry, and the signature of another file.
    expect((await forged(expiresAt + 1)).status).toBe(403);
    expect((await forged(expiresAt, `${signature.slice(0, -2)}AA`)).status).toBe(403);
    const other = (await upload(tokens.ada)).body;
    expect((await load(url.replace(body.id, other.id), null)).status).toBe(403);
  });

  test('[O10] an address that has expired is refused', async () => {
    const { signAddress } = await import('../../src/domain/artifacts/address.ts');
    const { tokenSecret } = await import('../../src/domain/keys/tokens.ts');
    const { tokens } = await people();
    const { body } = await upload(tokens.ada);
    const secret = await tokenSecret(api.store);
    const old = signAddress(secret, body.id, Date.now() - 11 * 60_000);
    expect((await load(old.url, null)).status).toBe(403);
    expect((await load(signAddress(secret, body.id, Date.now() - 9 * 60_000).url, null)).status).toBe(200);
  });

  test.each([
    ['a page', '<!doctype html><script>alert(1)</script>', 'application/octet-stream'],
    [
      'an SVG image',
      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      'application/octet-stream',
    ],
    ['a PDF', '%PDF-1.7 /OpenAction', 'application/pdf'],
    ['a page that begins like an image', 'GIF89a<script>alert(1)</script>', 'image/gif'],
  ])('[O10] %s is sent as a download that cannot run, whatever its declared type', async (_what, bytes, type) => {
    const { space, tokens } = await people();
    const { body } = await upload(tokens.ada, bytes, `name=${encodeURIComponent('pläne".html')}`);
    await post(space, tokens.ada, [body.id]);
    const { url } = (await api.call('GET', `/api/artifacts/${body.id}/address`, { secret: tokens.bob })).body;
    for (const response of [await load(url, null), await load(`/api/artifacts/${body.id}`, tokens.bob)])
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': type,
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
        'content-disposition': expect.stringMatching(
          /^attachment; filename="[\w.-]+"; filename\*=UTF-8''pl%C3%A4ne%22\.html$/,
        ),
      });
  });

  test('[O10] a file over the limit is refused with 413, an empty one with 422, and nothing is kept', async () => {
    const { tokens } = await people();
    expect((await upload(tokens.ada, Buffer.alloc(10_001))).status).toBe(413);
    expect((await upload(tokens.ada, '')).status).toBe(422);
    expect(existsSync(folder.path) ? await readdir(folder.path) : []).toEqual([]);
    expect((await upload(tokens.ada, Buffer.alloc(10_000))).status).toBe(201);
  });

  test('the bytes of an upload that is refused are deleted', async () => {
    await people();
    // A request with a key has to name a person.
    expect((await upload(api.key)).status).toBe(422);
    expect((await upload(api.key, PNG, 'entityId=none')).status).toBe(404);
    expect(await readdir(folder.path)).toEqual([]);
  });

  const uploadForm = async (secret: string, parts: readonly [string, File | string][], headers: object = {}) => {
    const body = new FormData();
    for (const [name, value] of parts) body.append(name, value);
    const form = new Response(body);
    const request = new Request('http://gateway/api/artifacts', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': form.headers.get('content-type') ?? '',
        ...headers,
      },
      body: await form.arrayBuffer(),
    });
    const response = await api.app.fetch(request);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
    return { status: response.status, body: (await response.json()) as any };
  };
  const file = (bytes: Uint8Array | string = PNG, name = 'pläne "a".png', type = 'image/png') =>
    new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name, { type });

  test('[O10] a file that is sent as a form is stored without the form, with its own name and type', async () => {
    const { tokens } = await people();
    const { status, body } = await uploadForm(tokens.ada, [['file', file()]]);
    expect([status, body]).toEqual([
      201,
      { id: body.id, name: 'pläne "a".png', mediaType: 'image/png', bytes: PNG.length },
    ]);
    const stored = await load(`/api/artifacts/${body.id}`, tokens.ada);
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(Buffer.from(PNG));
    const audio = await uploadForm(tokens.ada, [['file', file('No magic bytes.', 'a.wav', 'audio/wav')]]);
    expect(audio.body).toMatchObject({ name: 'a.wav', mediaType: 'audio/wav' });
  });

  test('[O10] the fields of a form say the name and who uploads, and a key of another project finds nobody', async () => {
    const { ada, bob, tokens } = await people();
    const sent: [string, File | string][] = [
      ['file', file()],
      ['name', 'b.png'],
      ['entityId', ada],
    ];
    const { status, body } = await uploadForm(api.key, sent);
    expect([status, body.name]).toEqual([201, 'b.png']);
    expect((await load(`/api/artifacts/${body.id}`, tokens.ada)).status).toBe(200);
    expect((await load(`/api/artifacts/${body.id}`, tokens.bob)).status).toBe(404);
    expect((await uploadForm(tokens.bob, sent)).status).toBe(422);
    expect((await uploadForm(tokens.bob, [...sent.slice(0, 1), ['entityId', bob]])).status).toBe(201);
    expect((await uploadForm(api.key, sent.slice(0, 1))).status).toBe(422);
    await api.done('POST', '/api/projects', { id: 'other' });
    const other = await api.done<{ key: string }>('POST', '/api/keys', {
      ...{ name: 'k', scopes: ['admin'], project: 'other' },
    });
    expect((await uploadForm(other.key, sent)).status).toBe(404);
    expect(await readdir(folder.path)).toHaveLength(2);
  });

  test('[O10] a form without a file, with several, with other fields or that is broken is refused with 422, and nothing is kept', async () => {
    const { tokens } = await people();
    for (const parts of [
      [],
      [['name', 'a.png']],
      [
        ['file', file()],
        ['other', file()],
      ],
      [
        ['file', file()],
        ['other', 'text'],
      ],
      [
        ['file', file()],
        ['name', 'a'],
        ['name', 'b'],
      ],
      [['file', file('')]],
    ] as [string, File | string][][]) {
      const { status, body } = await uploadForm(tokens.ada, parts);
      expect([parts.length, status, body.error.code]).toEqual([parts.length, 422, 'invalid_request']);
    }
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=other'])
      expect((await uploadForm(tokens.ada, [['file', file()]], { 'content-type': type })).status).toBe(422);
    // Nobody learns of a wrong form without a right to upload.
    expect((await uploadForm('wrong', [])).status).toBe(401);
    expect((await uploadForm(await api.keyWith('read'), [])).status).toBe(403);
    expect((await uploadForm(tokens.ada, [['file', file(Buffer.alloc(10_001))]])).status).toBe(413);
    expect(existsSync(folder.path) ? await readdir(folder.path) : []).toEqual([]);
  });

  test('[O10] a form with many parts or long headers is refused before it is parsed, and its file may have any bytes', async () => {
    const sent = async (body: string) =>
      await readSentFile(Buffer.from(body), new Headers({ 'content-type': 'multipart/form-data; boundary="-b"' }));
    const part = (head: string, body = '') => `---b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
    const content = '--x\r\n--\r\n\r\n'.repeat(1_000);
    const read = await sent(`${part('name="file"; filename="a"', content)}---b--\r\n`);
    expect([Buffer.from(read.bytes).toString(), read.name]).toEqual([content, 'a']);
    const refusal = { code: 'invalid_request', details: { path: 'body' } };
    await expect(sent(`${part('name="a"').repeat(21)}---b--\r\n`)).rejects.toMatchObject(refusal);
    await expect(sent(`${part(`name="${'a'.repeat(10_000)}"`)}---b--\r\n`)).rejects.toMatchObject(refusal);
    await expect(sent('---b')).rejects.toMatchObject(refusal);
  });

  test('[O10] the parts of a form are counted with the boundary that the parser uses, however its header is written', async () => {
    const boundary = `${'-'.repeat(26)}b`;
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n\r\n`;
    const broken = 'The body must be multipart/form-data with one file, and at most the fields name and entityId.';
    for (const parameters of [
      `boundary=${boundary}`,
      `boundary="${boundary}"`,
      `boundary="\\${boundary}"`,
      `boundary="${boundary.slice(0, -1)}\\b"`,
      `x="; boundary=other"; boundary=${boundary}`,
    ]) {
      const type = `multipart/form-data; ${parameters}`;
      const body = Buffer.from(`${part.repeat(21)}--${boundary}--\r\n`);
      await expect(readSentFile(body, new Headers({ 'content-type': type })), type).rejects.toThrow(broken);
    }
  });

  test('folders and control characters are removed from names', async () => {
    const { tokens } = await people();
    const named = async (name: string) => (await upload(tokens.ada, PNG, `name=${encodeURIComponent(name)}`)).body.name;
    expect(await named('../../etc/passwd')).toBe('passwd');
    expect(await named('C:\\temp\\a\u202eb\n.txt')).toBe('ab.txt');
    expect(await named('a\u2028b\u2029c.txt')).toBe('abc.txt');
    const { body } = await upload(tokens.ada, PNG, '');
    expect(body.name).toBe(body.id);
  });

  test('a person can have 50 files that are in no message', async () => {
    const { space, tokens } = await people();
    const first = (await upload(tokens.ada)).body.id;
    for (let file = 1; file < 50; file++) expect((await upload(tokens.ada)).status).toBe(201);
    expect((await upload(tokens.ada)).status).toBe(422);
    await post(space, tokens.ada, [first]);
    expect((await upload(tokens.ada)).status).toBe(201);
  });

  test('[O3] a key cannot upload for a person who was deleted', async () => {
    const { ada } = await people();
    await api.done('DELETE', `/api/entities/${ada}`);
    expect((await upload(api.key, PNG, `entityId=${ada}`)).status).toBe(404);
    expect(existsSync(folder.path) ? await readdir(folder.path) : []).toEqual([]);
  });

  test('a person who uploads many files at the same moment has 50 at most', async () => {
    const { tokens } = await people();
    const together = (length: number) => Promise.all(Array.from({ length }, () => upload(tokens.ada)));
    const sent = [...(await together(20)), ...(await together(20)), ...(await together(20))];
    expect(sent.filter(({ status }) => status === 201)).toHaveLength(50);
  });

  test('[O3] bytes that could not be deleted are deleted by a later sweep, and cannot be attached meanwhile', async () => {
    const { space, tokens } = await people();
    const { body } = await upload(tokens.ada);
    const files = createArtifactFiles(folder.path);
    const isDown = { ...files, remove: () => Promise.reject(new Error('The bucket is down.')) };
    const now = Date.now() + 2 * DAY_MS;
    await expect(sweepUploads(api.services, isDown, { now })).rejects.toThrow('down');
    expect((await post(space, tokens.ada, [body.id])).status).toBe(422);
    expect(await sweepUploads(api.services, files, { now })).toBe(1);
    expect(await readdir(folder.path)).toEqual([]);
    expect(await sweepUploads(api.services, files, { now })).toBe(0);
  });

  test('after a day, files that are in no message are deleted with their bytes, and those of messages stay', async () => {
    const { space, tokens } = await people();
    const [used, unused] = [(await upload(tokens.ada)).body.id, (await upload(tokens.ada)).body.id];
    await post(space, tokens.ada, [used]);
    const files = createArtifactFiles(folder.path);
    expect(await sweepUploads(api.services, files, { now: Date.now() + DAY_MS - 60_000 })).toBe(0);
    expect(await sweepUploads(api.services, files, { now: Date.now() + DAY_MS + 60_000 })).toBe(1);
    expect(await readdir(folder.path)).toEqual([used]);
    expect((await load(`/api/artifacts/${unused}`, tokens.ada)).status).toBe(404);
  });
});
