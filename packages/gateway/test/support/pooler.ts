import { type ChildProcess, spawn } from 'node:child_process';
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { poolerModeOf } from '../../src/ports/store/postgres/postgres-pooler.ts';
import { type Pooler, type PoolerOptions, startTestPooler } from './test-pooler.ts';

/** PgBouncer, if `PGBOUNCER` names it or it is on the PATH. Otherwise the test pooler, which follows the same rules. */
export async function startPooler(serverUrl: string, options: PoolerOptions = {}): Promise<Pooler> {
  const program = await findPgBouncer();
  return program === undefined
    ? startTestPooler(serverUrl, options)
    : await startPgBouncer(program, serverUrl, options);
}

/** The same database, through the pooler. */
export function throughPooler(url: string, { port }: Pooler): string {
  const pooled = new URL(url);
  pooled.port = String(port);
  return pooled.href;
}

async function findPgBouncer(): Promise<string | undefined> {
  if (process.env.PGBOUNCER !== undefined) return process.env.PGBOUNCER;
  for (const folder of process.env.PATH?.split(delimiter) ?? []) {
    const program = join(folder, 'pgbouncer');
    const exists = await access(program).then(
      () => true,
      () => false,
    );
    if (exists) return program;
  }
  return undefined;
}

async function startPgBouncer(program: string, serverUrl: string, options: PoolerOptions): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-pgbouncer-'));
  const port = await freePort();
  await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${options.mode ?? 'transaction'}
default_pool_size = ${options.connections ?? 4}
max_client_conn = 500
; By default it refuses everything for 15 s after one connection to the server has failed.
server_login_retry = 1
`,
  );
  await chmod(folder, 0o755);
  // It refuses to run as the superuser, which CI machines often are.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
  await untilAnswers(serverUrl, port, child);
  return {
    name: 'PgBouncer',
    port,
    async [Symbol.asyncDispose]() {
      await ended(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const NOBODY = 65_534;

async function untilAnswers(serverUrl: string, port: number, child: ChildProcess): Promise<void> {
  const url = new URL(serverUrl);
  url.port = String(port);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}.`);
    const mode = await poolerModeOf(url.href).catch(() => undefined);
    if (mode !== undefined) return;
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill(signal);
  await promise;
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
  });
  return await promise;
}
