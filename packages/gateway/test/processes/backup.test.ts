import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, inject, test } from 'vitest';
import { Shell } from '../by-curl/shell.ts';
import { ask, SECRET_KEY } from './api.ts';
import { GatewayProcess } from './gateway-process.ts';
import { until } from './until.ts';

const page = await readFile(join(import.meta.dirname, '../../../../docs/deploying.md'), 'utf8');

/** The commands of its section, in their order: back up, restore. */
const section = page.slice(page.indexOf('## Back up and restore'));
const [backUp = '', restore = ''] = Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, body]) => body ?? '');

/** A gateway with the demo, whose agent has asked for a confirmation and waits. */
async function withWaitingCall(folder: string, env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const gateway = await start(folder, env);
  await say(gateway, 'Book a hotel in Tokyo, please.');
  await until('the run waits', async () => (await ask(gateway.url, '/api/runs?status=waiting')).items.length > 0);
  return gateway;
}

async function start(folder: string, env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  return await GatewayProcess.start({ name: 'a', folder, env: { PORT: '0', LASTCALL_SECRET_KEY: SECRET_KEY, ...env } });
}

async function say({ url }: GatewayProcess, text: string): Promise<void> {
  const { spaceId, entityId } = await findPlace(url);
  await ask(url, `/api/spaces/${spaceId}/messages`, { entityId, text });
}

async function findPlace(url: string): Promise<{ spaceId: string; entityId: string }> {
  const [spaces, people] = [await ask(url, '/api/spaces'), await ask(url, '/api/entities?kind=human')];
  return { spaceId: spaces.items[0].id, entityId: people.items[0].id };
}

/** Changes everything after the backup was taken: the waiting call is answered no. */
async function goOn(gateway: GatewayProcess): Promise<void> {
  const { items } = await ask(gateway.url, '/api/pending');
  await ask(gateway.url, `/api/runs/${items[0].runId}/tool-results`, { callId: items[0].callId, error: 'No.' });
  await say(gateway, 'This comes after the backup.');
  await until('it is answered', async () => (await ask(gateway.url, '/api/pending')).items.length === 0);
}

/** Checks a restored gateway: the call waits, an old token works, and an answer makes the agent continue. */
async function expectAsBackedUp(gateway: GatewayProcess, token: string): Promise<void> {
  const { url } = gateway;
  const { spaceId } = await findPlace(url);
  const read = async (): Promise<string[]> => {
    const { items } = await ask(url, `/api/spaces/${spaceId}/messages`);
    return items.map(
      ({ text, metadata }: { text: string; metadata: { toolName?: string } }) => metadata.toolName ?? text,
    );
  };
  expect((await read()).slice(0, 2)).toEqual(['Book a hotel in Tokyo, please.', 'confirm_booking']);
  expect(await read()).not.toContain('This comes after the backup.');
  const asAda = await fetch(`${url}/api/spaces/${spaceId}/messages`, { headers: { authorization: `Bearer ${token}` } });
  expect(asAda.status).toBe(200);
  const { items: waiting } = await ask(url, '/api/pending');
  const [{ runId, callId }] = waiting;
  await ask(url, `/api/runs/${runId}/tool-results`, { callId, result: { confirmed: true } });
  await until('the agent books', async () => (await read()).includes('book_hotel'));
}

async function tokenOf({ url }: GatewayProcess): Promise<string> {
  const { entityId } = await findPlace(url);
  return (await ask(url, `/api/entities/${entityId}/token`, {})).token;
}

test('a SQLite store that is backed up while its gateway runs continues from there when it is restored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-backup-'));
  await using shell = new Shell(folder);
  const first = await withWaitingCall(folder, {});
  const token = await tokenOf(first);
  // The second one replaces the first.
  for (const _ of [1, 2]) expect(await shell.run(backUp)).not.toContain('Error');
  await goOn(first);
  await first.kill();
  await shell.run(restore);
  const second = await start(folder, {});
  try {
    await expectAsBackedUp(second, token);
  } finally {
    await second.kill();
    await rm(folder, { recursive: true, force: true });
  }
});

test('a PostgreSQL store that is copied continues from there when a gateway is started on the copy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-backup-'));
  const url = new URL(inject('postgresUrl'));
  await using admin = await connect(url.href);
  const [name, copy] = [`backup_${process.pid}`, `backup_${process.pid}_copy`];
  await admin.query(`create database ${name}`);
  url.pathname = name;
  const first = await withWaitingCall(folder, { DATABASE_URL: url.href });
  const token = await tokenOf(first);
  first.send('SIGTERM');
  await first.exited;
  const [, documented = ''] = /`create database (copy template lastcall)`/.exec(page) ?? [];
  await admin.query(`create database ${documented.replace('copy', copy).replace('lastcall', name)}`);
  url.pathname = copy;
  const second = await start(folder, { DATABASE_URL: url.href });
  try {
    await expectAsBackedUp(second, token);
  } finally {
    await second.kill();
    for (const one of [name, copy]) await admin.query(`drop database ${one} with (force)`);
    await rm(folder, { recursive: true, force: true });
  }
});

async function connect(url: string): Promise<AsyncDisposable & Pick<Client, 'query'>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
