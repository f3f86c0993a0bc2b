import { chmod, chown, copyFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareServer, publicFolder } from './postgres-server.ts';

/**
 * The certificates of the tests, valid from 2020 to 2120, so that no test needs a program that makes them. The key protects nothing. The server's
 * certificate is for the name `localhost` alone.
 */
export const tlsFile = (name: 'authority.crt' | 'other-authority.crt'): string => join(FOLDER, name);

const FOLDER = join(import.meta.dirname, 'tls');

export interface TlsPostgres extends AsyncDisposable {
  /** The URL of its database, with these parameters. */
  url(parameters?: Readonly<Record<string, string>>, host?: string): string;
}

/** A PostgreSQL server that offers TLS. */
export async function startTlsPostgres(): Promise<TlsPostgres> {
  const folder = await publicFolder();
  const { server, port, dataFolder } = await prepareServer(folder, 'data', {
    fsync: 'off',
    ssl: 'on',
    ssl_cert_file: 'server.crt',
    ssl_key_file: 'server.key',
  });
  await server.initialise();
  const { uid, gid } = await stat(dataFolder);
  for (const name of ['server.crt', 'server.key']) {
    await copyFile(join(FOLDER, name), join(dataFolder, name));
    // The server refuses a key that others can read.
    await chmod(join(dataFolder, name), 0o600);
    await chown(join(dataFolder, name), uid, gid);
  }
  await server.start();
  await server.createDatabase('encrypted');
  return {
    url(parameters = {}, host = 'localhost') {
      const url = new URL(`postgres://lastcall:lastcall@${host}:${port}/encrypted`);
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
