import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';

let home: string;
let gateway: Gateway;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lastcall-start-'));
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  gateway = createGateway({ env: { LASTCALL_HOME: home, PORT: '0' }, logger: silent });
});
afterEach(async () => {
  await gateway.stop();
  await rm(home, { recursive: true, force: true });
});

test('a gateway that is started twice at the same moment starts once', async () => {
  await Promise.all([gateway.start(), gateway.start()]);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});

test('a gateway that is stopped while it starts has stopped', async () => {
  const starting = gateway.start();
  await gateway.stop();
  await starting;
  expect(() => gateway.url).toThrow('has not started');
  // Its folder is free again.
  await gateway.start();
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});

test('a gateway whose start failed can be started again', async () => {
  const blocker = createGateway({ env: { LASTCALL_HOME: home, PORT: '0' } });
  await blocker.start();
  await expect(gateway.start()).rejects.toThrow('Another gateway');
  await blocker.stop();
  await gateway.start();
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});
