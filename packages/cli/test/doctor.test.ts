import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { makeFolder } from './support/folder.ts';
import { lastcall, Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

describe('doctor', () => {
  test('[S12] says how to fix a configuration that cannot work, and exits with 1', async () => {
    await using sick = await makeFolder({ 'lastcall.config.ts': 'export default { port: -1 };' });
    const { code, out } = await lastcall(['doctor'], { folder: sick.path, env: { PORT: '0' } });
    expect(out).toMatch(/^FAIL {2}\S+lastcall\.config\.ts: port must be/m);
    expect(code).toBe(1);
  });

  test.each([
    [
      'a key without its package and a folder that cannot be written to',
      { GOOGLE_GENERATIVE_AI_API_KEY: 'sk-of-nobody-at-all', LASTCALL_HOME: 'file/home' },
      [
        /^FAIL {2}GOOGLE_GENERATIVE_AI_API_KEY is set, but .*: npm install @ai-sdk\/google$/m,
        /^FAIL {2}The folder "file\/home" cannot be written to/m,
      ],
    ],
    [
      'a model that does not exist and a database that does not answer',
      { LASTCALL_MODEL: 'nobody/any', DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' },
      [/^FAIL {2}There is no model "nobody\/any"/m, /^FAIL {2}PostgreSQL at 127\.0\.0\.1:1 does not answer/m],
    ],
  ])('[S12] finds %s, and prints the same as JSON', async (_what, more, sentences) => {
    await using sick = await makeFolder({ file: '' });
    const options = { folder: sick.path, env: { PORT: '0', ...more } };
    const [{ code, out }, json] = await Promise.all([
      lastcall(['doctor'], options),
      lastcall(['doctor', '--json'], options),
    ]);
    for (const sentence of sentences) expect(out).toMatch(sentence);
    expect(code).toBe(1);
    const failed = (JSON.parse(json.out) as { level: string }[]).filter(({ level }) => level === 'fail');
    expect(failed).toHaveLength(2);
  });

  test('[S12] finds a bucket that cannot be used', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const keys = "accessKeyId: '${env.S3_ID}', secretAccessKey: '${env.S3_SECRET}'";
    const s3 = `{ endpoint: 'http://${host}', bucket: 'pictures', region: 'auto', ${keys} }`;
    await using sick = await makeFolder({
      'lastcall.config.ts': `export default { artifacts: { s3: ${s3} }, secrets: ['S3_ID', 'S3_SECRET'], egress: { allow: ['${host}'] } };`,
    });
    const doctor = (more: object) => lastcall(['doctor'], { folder: sick.path, env: { PORT: '0', ...more } });
    const { code, out } = await doctor({ S3_ID: 'key-id', S3_SECRET: 'key-secret' });
    expect(out).toMatch(
      /^FAIL {2}The bucket "pictures".* does not work for images and attachments\..* 404 NoSuchBucket\./m,
    );
    expect(code).toBe(1);
    expect((await doctor({ S3_ID: 'key-id' })).out).toMatch(
      /^FAIL {2}environment: S3_SECRET is needed by artifacts\.s3/m,
    );
    server.close();
  });

  test('[S12] finds another program on the port, and a gateway that does not run', async () => {
    await using empty = await makeFolder();
    const other = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const PORT = String((other.address() as AddressInfo).port);
    const taken = await lastcall(['doctor'], { folder: empty.path, env: { PORT } });
    expect(taken).toMatchObject({ code: 1, out: expect.stringContaining(`FAIL  another program uses port ${PORT}`) });
    await new Promise<void>((resolve) => other.close(() => resolve()));
    const free = await lastcall(['doctor'], { folder: empty.path, env: { PORT } });
    expect(free).toMatchObject({ code: 0, out: expect.stringContaining('warn  no gateway answers at') });
  });

  test('[S12] says nothing about the port of this folder if the address of another gateway is given', async () => {
    await using folder = await makeFolder();
    await using started = Program.lastcall(['start'], { folder: folder.path, env });
    const PORT = new URL(await started.listens()).port;
    const other = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const doctor = (more: Record<string, string>) =>
      lastcall(['doctor'], { folder: folder.path, env: { ...env, PORT, ...more } });
    const last = async (more: Record<string, string>) => {
      const { code, out } = await doctor(more);
      return [code, out.trim().split('\n').at(-1)];
    };
    const advice = 'correct --url or LASTCALL_URL, or start that gateway';
    expect(await last({ LASTCALL_URL: 'http://127.0.0.1:1' })).toEqual([
      1,
      `FAIL  no gateway answers at http://127.0.0.1:1: ${advice}`,
    ]);
    expect(await last({ LASTCALL_URL: otherUrl })).toEqual([
      1,
      `FAIL  another program answers at ${otherUrl}: ${advice}`,
    ]);
    expect(await last({ LASTCALL_URL: `http://127.0.0.1:${PORT}` })).toEqual([0, expect.stringMatching(/^ok /)]);
    other.close();
  });

  test('[S12] finds dead events', async () => {
    await using broken = await makeFolder();
    const hopeless = { ...env, LASTCALL_MODEL: 'nobody/any' };
    await using started = Program.lastcall(['start'], { folder: broken.path, env: hopeless });
    const address = await started.listens();
    const room = new DemoSpace(address);
    await room.say('Hello!');
    await started.prints(/"outcome":"failed"/);
    const { out } = await lastcall(['doctor', '--url', address], { folder: broken.path, env: hopeless });
    expect(out).toMatch(/^warn {2}1 dead event of Concierge: /m);
  });

  test('[S12] counts the same dead events as the gateway: those in the inboxes of agents, not those of conversations', async () => {
    await using broken = await makeFolder();
    const hopeless = { ...env, LASTCALL_MODEL: 'nobody/any' };
    await using started = Program.lastcall(['start'], { folder: broken.path, env: hopeless });
    const address = await started.listens();
    const room = new DemoSpace(address);
    expect(await room.ask('/chat', { agent: 'Concierge', message: 'Hello!' })).toMatchObject({
      error: expect.anything(),
    });
    const { counts } = await room.ask('/api/status');
    const { out } = await lastcall(['doctor', '--url', address], { folder: broken.path, env: hopeless });
    expect([counts.deadEvents, out]).toEqual([
      0,
      expect.stringMatching(/^ok {4}no dead events in inboxes of agents$/m),
    ]);
  });
});
