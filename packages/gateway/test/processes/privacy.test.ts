import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makePrivateFolder } from '../../src/ports/store/sqlite/private-folder.ts';
import { doDuties } from './answering.ts';
import { SECRET_KEY } from './api.ts';
import { openCrew, twoGateways } from './crew.ts';
import { findPlace, openSite, say } from './site.ts';
import { until } from './until.ts';

describe('the files in the folder of a gateway', { concurrent: true }, () => {
  const OWN = {
    '.': '700',
    'lastcall.db': '600',
    'lastcall.db-shm': '600',
    'lastcall.db-wal': '600',
    'lock.db': '600',
    'lock.db-journal': '600',
  };

  test('[G63] the files of a gateway are accessible only to their owner, with umask 177', async () => {
    await using site = await openSite({ decide: doDuties });
    // Without the compile cache, which other tests use too: with this umask its files could not be opened.
    const gateway = await site.start('a', { NODE_COMPILE_CACHE: '' }, { umask: '177' });
    await say(gateway.url, 'North', 'Anna: answer m1');
    expect(await modesIn(join(site.folder, '.lastcall'))).toEqual(OWN);
  });

  test('[G63] the files of a gateway are accessible only to their owner, with umask 000, and files that were open to others become so', async () => {
    await using site = await openSite({ decide: doDuties });
    const home = join(site.folder, '.lastcall');
    const first = await site.start('a', {}, { umask: '000' });
    await say(first.url, 'North', 'Anna: answer m1');
    expect(await modesIn(home)).toEqual(OWN);
    await first.kill();
    await chmod(home, 0o777);
    for (const file of await readdir(home)) await chmod(join(home, file), 0o666);
    await site.start('b');
    const modes = await modesIn(home);
    expect(new Set(Object.values(modes))).toEqual(new Set(['700', '600']));
    expect(modes['.']).toBe('700');
  });

  test('[G63] a start is refused in a folder that cannot be closed to others, with what to do', () => {
    // The modes of these folders cannot be changed, not even by root.
    const folder = process.platform === 'linux' ? '/proc/self' : '/System';
    expect(() => makePrivateFolder(folder)).toThrow(/can be read by others.*Set LASTCALL_HOME to a folder/);
  });
});

async function modesIn(folder: string): Promise<Record<string, string>> {
  const names = ['.', ...(await readdir(folder)).sort()];
  const modes = names.map(async (name) => [name, ((await stat(join(folder, name))).mode & 0o777).toString(8)] as const);
  return Object.fromEntries(await Promise.all(modes));
}

describe.each(twoGateways)('a gateway on $kind', { concurrent: true }, ({ kind }) => {
  test('[G63] logs, metrics, errors and transcripts of a gateway have no key, token or signing secret', async () => {
    const modelKey = 'provider-key-0123456789';
    let isRefused = true;
    await using crew = await openCrew({
      kind,
      env: { LASTCALL_LOG_LEVEL: 'trace', LASTCALL_MODEL_KEY: modelKey },
      decide: (request) =>
        // Some providers repeat the key that they refuse, and other headers.
        isRefused && request.agent === 'Anna'
          ? { refusal: { status: 500, message: `Incorrect key ${modelKey}, sent as Bearer ${modelKey}.` } }
          : doDuties(request),
    });
    const { url } = crew.first;
    const { spaces, entities } = await findPlace(url);
    const { key } = await send(url, '/api/keys', SECRET_KEY, { name: 'made', scopes: ['write'] });
    const { token } = await send(url, `/api/entities/${entities.Ada}/token`, SECRET_KEY, {});
    await say(url, 'North', 'Anna: answer m1');
    const run = await until('a run has failed', () =>
      crew.site.db.selectFrom('runs').select('id').where('status', '=', 'failed').executeTakeFirst(),
    );
    isRefused = false;
    await crew.answered('m1');
    const answers = [
      await send(url, `/api/runs/${run.id}`, key),
      await send(url, `/api/runs/${run.id}/transcript`, key),
      await send(url, '/api/runs', key),
      await send(url, '/api/agents', key),
      await send(url, '/api/keys', SECRET_KEY),
      await send(url, '/api/settings', key),
      await send(url, `/api/entities/${entities.Ada}`, token, { displayName: 7 }),
      await send(url, '/api/agents', `${key}x`),
      await send(url, '/api/agents', `${token}x`),
      await send(url, `/api/spaces/${spaces.South}/messages?token=${token}&token=${token}`, token),
      await send(url, `/api/spaces/${spaces.South}/stream?token=${token}x`),
    ];
    const figures = await (await fetch(`${url}/metrics`)).text();
    const secret = await crew.site.db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', 'token_secret')
      .executeTakeFirstOrThrow();
    for (const gateway of crew.site.gateways) gateway.send('SIGTERM');
    await Promise.all(crew.site.gateways.map(({ exited }) => exited));
    const stored = await crew.site.db.selectFrom('transcript_entries').select('payload').execute();
    const events = await crew.site.db.selectFrom('stream_events').select('payload').execute();
    const inbox = await crew.site.db.selectFrom('inbox_events').select(['payload', 'error']).execute();
    const said = JSON.stringify([
      answers,
      figures,
      stored,
      events,
      inbox,
      crew.site.gateways.map((one) => one.printed),
    ]);
    expect(said.includes('Incorrect key [redacted]')).toBe(true);
    const secrets = { SECRET_KEY, modelKey, key, token, signing: JSON.parse(secret.value) as string };
    const found = Object.entries(secrets).filter(([, value]) => said.includes(value));
    expect(found.map(([name]) => name)).toEqual([]);
  });
});

test('[G51] [G63] the first key is printed once, at the first start, and is in no line of the log', async () => {
  await using site = await openSite({ decide: doDuties });
  const env = { LASTCALL_SECRET_KEY: '', LASTCALL_LOG_LEVEL: 'trace' };
  const first = await site.start('a', env);
  const key = await until('it is printed', () => /shown only once\): (lc_sk_\S+)/.exec(first.output)?.[1]);
  await send(first.url, '/api/agents', key);
  await send(first.url, '/api/agents', `${key}x`);
  first.send('SIGTERM');
  await first.exited;
  const second = await site.start('b', env);
  await send(second.url, '/api/agents', key);
  second.send('SIGTERM');
  await second.exited;
  const lines = [first, second].flatMap(({ printed: { out, err } }) => `${out}${err}`.split('\n'));
  expect(lines.filter((line) => line.includes(key))).toEqual([`Your secret key (shown only once): ${key}`]);
});

// biome-ignore lint/suspicious/noExplicitAny: what is read is expected to be there.
async function send(url: string, path: string, secret?: string, body?: object): Promise<any> {
  const response = await fetch(`${url}${path}`, {
    method:
      body === undefined ? 'GET' : path.startsWith('/api/entities/') && !path.endsWith('token') ? 'PATCH' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await response.json();
}
