import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { imageTypeOf } from '../../src/domain/artifacts/media-type.ts';
import { startCaller } from '../http-tools/caller.ts';
import { isFirstStep, resultsOf } from '../support/requests.ts';
import { startWebSite } from '../support/web-site.ts';
import { JPEG, PNG, painter } from './painter.ts';

const draw = (more: object = {}) => ({
  executionType: 'gateway' as const,
  visible: false,
  execution: { provider: 'test', model: 'painter', ...more },
});

describe('an image tool', () => {
  test('[X13] stores the image as an artifact, and the model reads a short text with its URL, not the bytes', async () => {
    const model = painter();
    await using caller = await startCaller(draw(), { imageModels: { 'test/painter': model } });
    const { outcome, read } = await caller.call({ prompt: 'a boat' });
    const { url } = outcome.value as { url: string };
    expect(outcome).toMatchObject({ status: 'ok', value: { mediaType: 'image/png', bytes: PNG.length } });
    expect(read).toContain(url);
    expect(read.length).toBeLessThan(200);
    expect(read).not.toContain(Buffer.from(PNG).toString('base64').slice(0, 20));
    expect(model.requests).toMatchObject([{ prompt: 'a boat', n: 1 }]);
    const response = await caller.gateway.request(url);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
  });

  test('an artifact is served with headers under which nothing in it can run', async () => {
    await using caller = await startCaller(draw(), { imageModels: { 'test/painter': painter() } });
    const { url } = (await caller.call({ prompt: 'a boat' })).outcome.value as { url: string };
    const { headers } = await caller.gateway.request(url);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'x-content-type-options': 'nosniff',
      'content-disposition': expect.stringMatching(/^attachment; filename="[\w-]+\.png"$/),
      'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': expect.stringContaining('private'),
    });
  });

  test('[X13] size, seed and number are the options of the interface; quality and the like go to the provider', async () => {
    const model = painter(({ n }) => Array.from({ length: n }, () => JPEG));
    const execution = { size: '512x512', seed: 7, n: 2, quality: 'hd', style: 'vivid' };
    await using caller = await startCaller(draw(execution), { imageModels: { 'test/painter': model } });
    const { outcome } = await caller.call({ prompt: 'a boat' });
    expect(model.requests).toMatchObject([
      { n: 2, size: '512x512', seed: 7, providerOptions: { test: { quality: 'hd', style: 'vivid' } } },
    ]);
    // The type is that of the bytes.
    expect(outcome.value).toMatchObject({ images: [{ mediaType: 'image/jpeg' }, { mediaType: 'image/jpeg' }] });
  });

  test.each([
    ['a page', '<!doctype html><script>alert(1)</script>'],
    ['a vector image, which can hold scripts', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['nothing', ''],
  ])('[X13] an image of the provider that is %s is not stored', async (_what, text) => {
    await using caller = await startCaller(draw(), {
      imageModels: { 'test/painter': painter(() => [Buffer.from(text)]) },
    });
    const { outcome } = await caller.call({ prompt: 'a boat' });
    expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('not a PNG') });
    await expect(readdir(join(caller.gateway.home, 'artifacts'))).rejects.toThrow('ENOENT');
  });

  test('an image over the limit is refused, and not stored', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(2_000)]);
    await using caller = await startCaller(draw(), {
      imageModels: { 'test/painter': painter(() => [large]) },
      limits: { artifactBytes: 1_000 },
    });
    expect((await caller.call({ prompt: 'a boat' })).outcome).toMatchObject({ status: 'error', code: 'too_large' });
    await expect(readdir(join(caller.gateway.home, 'artifacts'))).rejects.toThrow('ENOENT');
  });

  test('[G63] the file is under LASTCALL_HOME, readable only by its owner, without incomplete files next to it', async () => {
    await using caller = await startCaller(draw(), { imageModels: { 'test/painter': painter() } });
    await caller.call({ prompt: 'a boat' });
    const folder = join(caller.gateway.home, 'artifacts');
    const names = await readdir(folder);
    expect(names).toHaveLength(1);
    const path = join(folder, names[0] ?? '');
    expect(await readFile(path)).toEqual(PNG);
    expect([(await stat(folder)).mode & 0o777, (await stat(path)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test('[G1] members of the space that saw the call may read the image; others do not learn that it exists', async () => {
    const model = scriptedModel((request) => {
      if (isFirstStep(request))
        return [
          { toolName: 'enter_space', input: { spaceId: space.id } },
          { toolName: 'draw', input: { prompt: 'a boat' } },
        ];
      return 'Done.';
    });
    await using gateway = await startTestGateway({
      model,
      imageModels: { 'test/painter': painter() },
      tools: { draw: { ...draw(), visible: true } },
      agents: [{ name: 'Artist', instructions: 'Draw.', tools: ['draw'] }],
      spaces: [
        { name: 'Studio', agents: ['Artist'], people: [{ name: 'Ada', externalId: 'ada' }] },
        { name: 'Street', people: [{ name: 'Mallory', externalId: 'mallory' }] },
      ],
    });
    const { api, request } = gateway;
    const { items } = await api('/api/spaces');
    const space = items.find(({ name }: { name: string }) => name === 'Studio');
    const [ada] = (await api('/api/entities?externalId=ada')).items;
    const [mallory] = (await api('/api/entities?externalId=mallory')).items;
    await api(`/api/spaces/${space.id}/messages`, { entityId: ada.id, text: 'Draw a boat' });
    await waitFor(() => model.requests.length === 2);
    const drawn = JSON.parse(resultsOf(model.requests[1] as never).at(-1)?.text ?? '{}') as { url: string };
    const readAs = async (entityId: string) => {
      const { token } = await api(`/api/entities/${entityId}/token`, {});
      return (await request(drawn.url, undefined, { key: token })).status;
    };
    expect([await readAs(ada.id), await readAs(mallory.id)]).toEqual([200, 404]);
    expect((await fetch(gateway.url + drawn.url)).status).toBe(401);
    expect((await request('/api/artifacts/..%2Flastcall.db')).status).toBe(404);
    expect((await request('/api/artifacts/unknown')).status).toBe(404);
  });

  test('[X13] dall-e means the images of OpenAI', async () => {
    const model = painter();
    await using named = await startCaller(draw({ provider: 'dall-e', model: 'dall-e-3' }), {
      imageModels: { 'openai/dall-e-3': model },
    });
    expect((await named.call({ prompt: 'a boat' })).outcome.status).toBe('ok');
    expect(model.requests).toHaveLength(1);
    await using keyless = await startCaller(draw({ provider: 'dall-e', model: 'dall-e-3' }));
    expect((await keyless.call({ prompt: 'a boat' })).outcome.text).toContain('set OPENAI_API_KEY');
  });

  test('[X13] [X8] a provider of the AI SDK is asked through the guard, and gets size and quality', async () => {
    await using site = await startWebSite((_request, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ data: [{ b64_json: Buffer.from(PNG).toString('base64') }] })),
    );
    const execution = { provider: 'openai-compatible', model: 'sketch', size: '256x256', quality: 'low' };
    const options = { modelUrl: `${site.url}/v1` };
    await using refused = await startCaller(draw(execution), options);
    expect((await refused.call({ prompt: 'a boat' })).outcome.status).toBe('error');
    expect(site.requests).toEqual([]);
    await using caller = await startCaller(draw(execution), { ...options, egress: { allow: [site.host] } });
    expect((await caller.call({ prompt: 'a boat' })).outcome).toMatchObject({ status: 'ok' });
    expect(site.requests.map(({ url }) => url)).toEqual(['/v1/images/generations']);
    expect(JSON.parse(site.requests[0]?.body ?? '')).toMatchObject({
      model: 'sketch',
      prompt: 'a boat',
      size: '256x256',
      quality: 'low',
    });
  });

  test('[X3] its timeout aborts the provider', async () => {
    const aborted = Promise.withResolvers<true>();
    const hanging = painter(
      ({ abortSignal }) => new Promise(() => abortSignal?.addEventListener('abort', () => aborted.resolve(true))),
    );
    await using caller = await startCaller(draw({ timeout: 200 }), { imageModels: { 'test/painter': hanging } });
    expect((await caller.call({ prompt: 'a boat' })).outcome).toMatchObject({ status: 'error', code: 'timeout' });
    expect(await aborted.promise).toBe(true);
  });

  test.each([
    [{ model: undefined }, 'execution.model is missing'],
    [{ size: 'large' }, 'execution.size must be width x height'],
    [{ aspectRatio: 'wide' }, 'execution.aspectRatio must be'],
    [{ n: 0 }, 'execution.n must be 1 or more'],
    [{ provider: 'a b' }, 'execution.provider must be the name'],
  ])('[X1] an image tool with %j is refused with its path', async (wrong, expected) => {
    await expect(startTestGateway({ tools: { draw: draw(wrong) } })).rejects.toThrow(expected);
  });
});

test.each([
  ['image/png', PNG],
  ['image/jpeg', JPEG],
  ['image/gif', Buffer.from('GIF89a…')],
  ['image/webp', Buffer.from('RIFF\n\n\n\nWEBPVP8 ')],
  ['image/avif', Buffer.from('\0\0\0\x1cftypavif')],
  [undefined, Buffer.from('BM6')],
  [undefined, Buffer.from(' GIF89a')],
  [undefined, new Uint8Array()],
])('[X13] the media type %s is read from the bytes', (type, bytes) => {
  expect(imageTypeOf(bytes)).toBe(type);
});
