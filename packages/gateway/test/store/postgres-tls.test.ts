import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import { checkStore } from '../../src/ports/store/check-store.ts';
import { toOpenError } from '../../src/ports/store/postgres/postgres-open-error.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { startTlsPostgres, type TlsPostgres, tlsFile } from '../support/tls-postgres.ts';

let server: TlsPostgres;
beforeAll(async () => {
  server = await startTlsPostgres();
});
afterAll(async () => await server[Symbol.asyncDispose]());

const sslrootcert = tlsFile('authority.crt');

// The deprecation that `pg` announces for `require` is a warning, and does not end the process.
test.each(['require', 'verify-full'])(
  'with sslmode=%s and the certificate of the authority, the connections of the store and of the bus are encrypted',
  async (sslmode) => {
    const url = server.url({ sslmode, sslrootcert, application_name: 'encrypted' });
    const store = await openPostgresStore({ url });
    const bus = createPostgresBus({ url });
    await bus.start();
    await Promise.all([
      store.transaction((tx) => sql`select pg_sleep(0.05)`.execute(tx.db), { group: { kind: 'post', keys: ['a'] } }),
      store.transaction((tx) => sql`select pg_sleep(0.05)`.execute(tx.db)),
    ]);
    const { rows } = await sql<{ ssl: boolean; query: string }>`
      select ssl, query from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'encrypted' and backend_type = 'client backend'`.execute(store.db);
    // Store, group, listener and publisher.
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(rows.filter(({ ssl }) => !ssl)).toEqual([]);
    expect(rows.some(({ query }) => query.startsWith('listen '))).toBe(true);
    await bus.stop();
    await store.close();
  },
);

test.each([
  ['no authority', () => server.url({ sslmode: 'verify-full' }), 'Add sslrootcert=<file> to DATABASE_URL'],
  [
    'the authority of somebody else',
    () => server.url({ sslmode: 'verify-full', sslrootcert: tlsFile('other-authority.crt') }),
    'Add sslrootcert=<file> to DATABASE_URL, with the certificate of the authority that signed it.',
  ],
  [
    'another name than that of the certificate',
    () => server.url({ sslmode: 'verify-full', sslrootcert }, '127.0.0.1'),
    'has a certificate for another name than "127.0.0.1"',
  ],
  [
    'a file that is not there',
    () => server.url({ sslmode: 'verify-full', sslrootcert: '/nowhere/authority.crt' }),
    'The file "/nowhere/authority.crt" that DATABASE_URL names cannot be read',
  ],
  [
    'a server without TLS',
    () => `${inject('postgresUrl')}?sslmode=verify-full`,
    'does not offer TLS. Set ssl = on there, or remove sslmode from DATABASE_URL.',
  ],
])('with %s a start is refused, and the error says what to do', async (_what, url, message) => {
  const opening = openPostgresStore({ url: url() }).catch((error: unknown) => {
    throw toOpenError(error, url());
  });
  await expect(opening).rejects.toMatchObject({ name: 'StoreRefused', message: expect.stringContaining(message) });
  await expect(checkStore({ databaseUrl: url(), home: '' })).rejects.toThrow(message);
});
