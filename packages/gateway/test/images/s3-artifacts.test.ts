import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startTestGateway } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { artifactStoreSchema } from '../../src/config/artifact-store.ts';
import { createS3ArtifactFiles } from '../../src/ports/artifacts/s3-artifact-files.ts';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { startCaller } from '../http-tools/caller.ts';
import { type LogEntry, recordLogs } from '../support/world.ts';
import { PNG, painter } from './painter.ts';
import { S3_KEYS, S3_REGION, type S3Server, startS3Server } from './s3-server.ts';

const draw = {
  executionType: 'gateway' as const,
  visible: false,
  execution: { provider: 'test', model: 'painter' },
};

const optionsFor = ({ site }: S3Server, more: object = {}) => ({
  imageModels: { 'test/painter': painter() },
  artifacts: {
    s3: {
      endpoint: site.url,
      bucket: 'pictures',
      region: S3_REGION,
      accessKeyId: '${env.S3_ID}',
      secretAccessKey: '${env.S3_SECRET}',
      prefix: 'lastcall/',
    },
  },
  secrets: ['S3_ID', 'S3_SECRET'],
  env: { S3_ID: S3_KEYS.accessKeyId, S3_SECRET: S3_KEYS.secretAccessKey },
  egress: { allow: [site.host] },
  ...more,
});

describe('artifacts in S3', () => {
  test('[X13] an image is stored in the bucket with a valid signature, and served by the gateway', async () => {
    await using s3 = await startS3Server();
    await using caller = await startCaller(draw, optionsFor(s3));
    const { outcome } = await caller.call({ prompt: 'a boat' });
    const { url } = outcome.value as { url: string };
    const id = url.split('/').at(-1);
    // The object with which the gateway tries the bucket at its start may still be there.
    await expect.poll(() => [...s3.objects]).toEqual([[`/pictures/lastcall/${id}`, PNG]]);
    const response = await caller.gateway.request(url);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
    expect(await readdir(caller.gateway.home)).not.toContain('artifacts');
  });

  test('[X7] a refusal fails the call, without the keys in its text', async () => {
    await using s3 = await startS3Server();
    const env = { S3_ID: S3_KEYS.accessKeyId, S3_SECRET: 'not-the-secret-access-key' };
    await using caller = await startCaller(draw, optionsFor(s3, { env }));
    const { outcome } = await caller.call({ prompt: 'a boat' });
    expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('the S3 server answered 403') });
    expect(JSON.stringify(outcome)).not.toContain('not-the-secret');
    expect(s3.objects.size).toBe(0);
  });

  test('an upload and a download get 503 while the bucket cannot be used, and the log has the cause', async () => {
    const logs: LogEntry[] = [];
    const s3 = await startS3Server();
    await using gateway = await startTestGateway({ ...optionsFor(s3), logger: recordLogs(logs) });
    const { id: entityId } = await gateway.api('/api/entities', { kind: 'human', displayName: 'Ada' });
    const upload = (): Promise<Response> =>
      fetch(`${gateway.url}/api/artifacts?entityId=${entityId}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.secretKey}` },
        body: PNG,
      });
    const { id } = (await (await upload()).json()) as { id: string };
    await s3[Symbol.asyncDispose]();
    for (const [answer, act] of [
      [await upload(), 'stored'],
      [await gateway.request(`/api/artifacts/${id}`), 'read'],
    ] as const) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      const message = `The artifact could not be ${act}: the S3 server does not answer.`;
      expect(await answer.json()).toEqual({ error: { code: 'artifacts_unavailable', message } });
      expect(logs).toContainEqual(expect.objectContaining({ level: 'error', message }));
    }
  });

  test('[X13] requests for the headers of a file, and downloads that break off, do no harm to the gateway', async () => {
    await using s3 = await startS3Server();
    await using gateway = await startTestGateway(optionsFor(s3));
    const { id: entityId } = await gateway.api('/api/entities', { kind: 'human', displayName: 'Ada' });
    const headers = { authorization: `Bearer ${gateway.secretKey}` };
    const body = Buffer.concat([PNG, Buffer.alloc(2_000_000, 1)]);
    const upload = await fetch(`${gateway.url}/api/artifacts?entityId=${entityId}`, { method: 'POST', headers, body });
    const url = `${gateway.url}/api/artifacts/${((await upload.json()) as { id: string }).id}`;
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', note);
    for (let count = 0; count < 5; count++) {
      expect((await fetch(url, { method: 'HEAD', headers })).status).toBe(200);
      const leaving = new AbortController();
      await fetch(url, { headers, signal: leaving.signal });
      leaving.abort();
    }
    expect(Buffer.from(await (await fetch(url, { headers })).arrayBuffer())).toEqual(body);
    process.off('uncaughtException', note);
    expect(thrown).toEqual([]);
  });

  test('[X8] the bucket is reached through the guard', async () => {
    await using s3 = await startS3Server();
    await using caller = await startCaller(draw, optionsFor(s3, { egress: { allow: [] } }));
    const { outcome } = await caller.call({ prompt: 'a boat' });
    expect(outcome.status).toBe('error');
    expect(s3.site.requests).toEqual([]);
  });

  test('[S18] a gateway whose keys of the bucket are missing or not listed does not start, and says which', async () => {
    await using s3 = await startS3Server();
    const start = (more: object) => startTestGateway(optionsFor(s3, more));
    await expect(start({ env: { S3_ID: S3_KEYS.accessKeyId } })).rejects.toThrow(
      'environment: S3_SECRET is needed by artifacts.s3.secretAccessKey, and must have 4 characters or more.',
    );
    await expect(start({ secrets: ['S3_ID'] })).rejects.toThrow(
      'artifacts.s3.secretAccessKey names S3_SECRET, which is not on the list "secrets"',
    );
  });

  test('[S18] a bucket that does not exist, or keys that are wrong, are logged at the start, and a bucket that works is left empty', async () => {
    const advice = 'Correct artifacts.s3 in the configuration, or allow its keys to read, write and delete objects.';
    const cases = [
      ['pictures', S3_KEYS.secretAccessKey, undefined],
      ['photos', S3_KEYS.secretAccessKey, '404 NoSuchBucket'],
      ['pictures', 'not-the-secret-access-key', '403 SignatureDoesNotMatch'],
    ] as const;
    for (const [bucket, S3_SECRET, why] of cases) {
      const logs: LogEntry[] = [];
      await using s3 = await startS3Server({ bucket });
      const env = { S3_ID: S3_KEYS.accessKeyId, S3_SECRET };
      await using _gateway = await startTestGateway({ ...optionsFor(s3, { env }), logger: recordLogs(logs) });
      const methods = () => s3.site.requests.map(({ method }) => method);
      await expect.poll(methods).toEqual(why === undefined ? ['PUT', 'GET', 'DELETE'] : ['PUT']);
      const errors = () => logs.filter(({ level }) => level === 'error').map(({ message }) => message);
      const refusal = `The artifact could not be stored: the S3 server answered ${why}.`;
      await expect
        .poll(errors)
        .toEqual(
          why === undefined
            ? []
            : [
                `The bucket "pictures" at ${s3.site.url} does not work for images and attachments. ${refusal} ${advice}`,
              ],
        );
      await expect.poll(() => s3.objects.size).toBe(0);
    }
  });

  test.each([
    { denied: 'GET', act: 'read', left: 0 },
    { denied: 'DELETE', act: 'deleted', left: 1 },
  ])('[S18] keys that do not allow $denied are logged at the start', async ({ denied, act, left }) => {
    const logs: LogEntry[] = [];
    await using s3 = await startS3Server({ denied });
    const env = { S3_ID: S3_KEYS.accessKeyId, S3_SECRET: S3_KEYS.secretAccessKey };
    await using _gateway = await startTestGateway({ ...optionsFor(s3, { env }), logger: recordLogs(logs) });
    const errors = () => logs.filter(({ level }) => level === 'error').map(({ message }) => message);
    await expect
      .poll(errors)
      .toEqual([expect.stringContaining(`The artifact could not be ${act}: the S3 server answered 403 AccessDenied.`)]);
    await expect.poll(() => s3.objects.size).toBe(left);
  });

  test('a file of a bucket that does not exist is unavailable, and not missing', async () => {
    await using s3 = await startS3Server({ bucket: 'photos' });
    const egress = createEgress({ allow: [s3.site.host] });
    const files = createS3ArtifactFiles({
      endpoint: s3.site.url,
      bucket: 'pictures',
      region: S3_REGION,
      credentials: () => S3_KEYS,
      egress,
    });
    await expect(files.read('one')).rejects.toThrow(
      'The artifact could not be read: the S3 server answered 404 NoSuchBucket.',
    );
    await egress.close();
  });

  test.each(['../', 'a/../', './', 'a/./b/'])(
    '[S18] the prefix %s is refused, because it leads out of the bucket or vanishes',
    (prefix) => {
      const keys = { accessKeyId: '${env.S3_ID}', secretAccessKey: '${env.S3_SECRET}' };
      const s3 = { endpoint: 'https://s3.example.com', bucket: 'pictures', region: S3_REGION, ...keys, prefix };
      expect(artifactStoreSchema.safeParse({ s3 }).success).toBe(false);
      expect(artifactStoreSchema.safeParse({ s3: { ...s3, prefix: 'a..b/.c/' } }).success).toBe(true);
    },
  );

  test('any bytes are read back unchanged, and a missing file is undefined', async () => {
    await using s3 = await startS3Server();
    const egress = createEgress({ allow: [s3.site.host] });
    const files = createS3ArtifactFiles({
      endpoint: s3.site.url,
      bucket: 'pictures',
      region: S3_REGION,
      credentials: () => S3_KEYS,
      egress,
    });
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    await files.write('one', bytes);
    expect(await new Response(await files.read('one')).bytes()).toEqual(bytes);
    expect(await files.read('another')).toBeUndefined();
    await egress.close();
  });
});

const SCRIPT = `
import { registerHooks } from 'node:module';
import { startTestGateway } from '@lastcall/gateway/testing';
let isLoaded = false;
registerHooks({ load(url, context, next) {
  if (url.includes('aws4fetch')) isLoaded = true;
  return next(url, context);
} });
const gateway = await startTestGateway({ agents: [{ name: 'Plain', instructions: '' }] });
await gateway.api('/api/agents');
const atStart = isLoaded;
await gateway.stop();
await import('aws4fetch');
console.log(JSON.stringify({ atStart, isSeen: isLoaded }));
process.exit(0);
`;

test('the package for S3 is not loaded by a gateway without S3', async () => {
  // This runs the published bundle, because a module that is loaded late from source might be loaded early in a bundle.
  const args = ['--input-type=module', '--eval', SCRIPT];
  const cwd = new URL('..', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(JSON.parse(stdout)).toEqual({ atStart: false, isSeen: true });
});
