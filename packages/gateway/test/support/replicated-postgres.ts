import { execFile } from 'node:child_process';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { startTcpProxy } from '../processes/tcp-proxy.ts';
import { until } from '../processes/until.ts';
import { prepareServer, publicFolder } from './postgres-server.ts';

/** A PostgreSQL server, a standby that streams from it, and one address that leads to the primary, as a virtual IP or a proxy would. */
export interface ReplicatedPostgres extends AsyncDisposable {
  /** The URL of a database, at the address of the primary. */
  readonly url: string;
  /** Kills the primary, as in a power cut. Nothing answers at the address. */
  killPrimary(): Promise<void>;
  /** Points the address to the standby, which is read-only until it is promoted. */
  switchOver(): void;
  promote(): Promise<void>;
  /** `sync` if commits wait for the confirmation of the standby, or else `async`. */
  replication(): Promise<string>;
}

export interface ReplicationOptions {
  /** With it, a commit is confirmed once the standby has it too. */
  readonly isSynchronous: boolean;
}

const USER = 'lastcall:lastcall';
/** It survives a kill, which keeps the written data; a power cut of the machine is not tested. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', wal_level: 'replica', hot_standby: 'on' };

export async function startReplicated({ isSynchronous }: ReplicationOptions): Promise<ReplicatedPostgres> {
  const folder = await publicFolder();
  const primary = await prepareServer(folder, 'primary', {
    ...SETTINGS,
    ...(isSynchronous ? { synchronous_commit: 'on', synchronous_standby_names: '*' } : {}),
  });
  const standby = await prepareServer(folder, 'standby', SETTINGS);
  await primary.server.initialise();
  await promisify(execFile)('cp', ['-a', primary.dataFolder, standby.dataFolder]);
  await writeFile(join(standby.dataFolder, 'standby.signal'), '');
  await appendFile(
    join(standby.dataFolder, 'postgresql.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=lastcall password=lastcall'\n`,
  );
  await primary.server.start();
  // It resolves once the server accepts writes: after its promotion.
  const promoted = standby.server.start();
  promoted.catch(() => {});
  const onPrimary = await connected(primary.port);
  const replication = async (): Promise<string> => {
    const { rows } = await onPrimary.query<{ sync_state: string }>('select sync_state from pg_stat_replication');
    return rows.map(({ sync_state }) => sync_state).join();
  };
  await until('the standby streams', async () => (await replication()) !== '');
  await primary.server.createDatabase('replicated');
  // The standby confirms what it has received, and shows it a moment later.
  await (await connected(standby.port, 'replicated')).end();
  const target = { host: '127.0.0.1', port: primary.port };
  const address = await startTcpProxy(target);
  let isPrimaryAlive = true;
  return {
    url: `postgres://${USER}@127.0.0.1:${address.port}/replicated`,
    replication,
    async killPrimary() {
      isPrimaryAlive = false;
      const [pid] = (await readFile(join(primary.dataFolder, 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGKILL');
      // Its processes end when they notice the kill. A machine without power stops answering at once.
      address.cut();
    },
    switchOver() {
      target.port = standby.port;
      address.mend();
    },
    async promote() {
      const client = await connected(standby.port);
      await client.query('select pg_promote()');
      await client.end();
      await promoted;
    },
    async [Symbol.asyncDispose]() {
      await onPrimary.end().catch(() => {});
      await address[Symbol.asyncDispose]();
      await standby.server.stop();
      if (isPrimaryAlive) await primary.server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function connected(port: number, database = 'postgres'): Promise<Client> {
  return await until('the server answers', async () => {
    const client = new Client({ connectionString: `postgres://${USER}@127.0.0.1:${port}/${database}` });
    client.on('error', () => {});
    return await client.connect().then(
      () => client,
      () => undefined,
    );
  });
}

/** Kills the primary. For a moment the address leads to a read-only standby, which is then promoted. */
export async function failOver(
  database: ReplicatedPostgres,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  await database.killPrimary();
  database.switchOver();
  await meanwhile();
  await database.promote();
}
