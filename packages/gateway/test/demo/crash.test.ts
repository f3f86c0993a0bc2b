import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { createCheckedGateway, type Gateway } from '../../src/gateway.ts';

const KEY = 'a-secret-key-of-the-tests';

async function withGateway(crash: (() => void) | undefined, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'lastcall-crash-'));
  const env = { PORT: '0', LASTCALL_HOME: home, LASTCALL_SECRET_KEY: KEY, LASTCALL_LOG_LEVEL: 'silent' };
  const gateway = createCheckedGateway(checkConfig({}), { env, crash });
  await gateway.start();
  try {
    await work(gateway);
  } finally {
    await gateway.stop();
    await rm(home, { recursive: true });
  }
}

async function ask({ url }: Gateway, path: string, { body, key = KEY }: { body?: object; key?: string } = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(url + path, { headers, ...sent });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

test('[S19] a gateway that is not the demo of the command line has no endpoint to crash it, and does not document one', async () => {
  await withGateway(undefined, async (gateway) => {
    expect((await ask(gateway, '/api/demo/crash', { body: {} })).status).toBe(404);
    expect((await ask(gateway, '/api/status')).json).not.toHaveProperty('canCrash');
  });
});

test('[S19] only an administrator can crash the demo, and gets the response before it dies', async () => {
  const { promise: crashed, resolve } = Promise.withResolvers<void>();
  await withGateway(resolve, async (gateway) => {
    const { json: writer } = await ask(gateway, '/api/keys', { body: { name: 'writer', scopes: ['write'] } });
    expect((await ask(gateway, '/api/demo/crash', { body: {}, key: String(writer.key) })).status).toBe(403);
    expect((await ask(gateway, '/api/status')).json).toHaveProperty('canCrash', true);
    expect(await ask(gateway, '/api/demo/crash', { body: {} })).toEqual({ status: 200, json: {} });
    await crashed;
  });
});
