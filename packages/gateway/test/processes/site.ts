import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect } from 'kysely';
import { createPool } from '../../src/ports/store/postgres/postgres-pool.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { SqliteDriver, sqliteDialect } from '../../src/ports/store/sqlite/sqlite-driver.ts';
import { diskFolder } from '../support/disk-folder.ts';
import { ask, SECRET_KEY } from './api.ts';
import { type Exit, GatewayProcess, type ProcessOptions } from './gateway-process.ts';
import { type LoopbackModel, type ModelOptions, startLoopbackModel } from './loopback-model.ts';
import { EFFECTS } from './tools-config.ts';

/** A folder with a configuration, a database and a model server: where real gateways run. */
export interface Site extends AsyncDisposable {
  readonly folder: string;
  readonly model: LoopbackModel;
  /** Reads the database directly, bypassing the gateways. With SQLite, only once one of them has started. */
  readonly db: Kysely<Tables>;
  readonly gateways: readonly GatewayProcess[];
  start(
    name: string,
    env?: Readonly<Record<string, string>>,
    options?: Pick<ProcessOptions, 'umask'>,
  ): Promise<GatewayProcess>;
  /** A gateway that is expected to refuse to start. */
  runToEnd(env?: Readonly<Record<string, string>>): Promise<Exit & { output: string }>;
  /** Each real execution of a tool, in order. */
  effects(): Promise<Effect[]>;
}

export interface Effect {
  readonly toolName: string;
  readonly idempotencyKey: string;
  readonly ref: string;
}

export interface SiteOptions extends ModelOptions {
  /** Without it the store is the embedded one, in the folder. */
  readonly databaseUrl?: string | undefined;
  /** The server's own address, if `databaseUrl` leads to a pooler. */
  readonly directUrl?: string | undefined;
  readonly leaseMs?: number;
  /** The text of the configuration. */
  readonly config?: string;
}

/** JavaScript, because stripping the types of a new file takes a tenth of a start. */
export const CONFIG_FILE = 'lastcall.config.mjs';

const CONFIG = `import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
export default processConfig;
`;

export async function openSite({
  databaseUrl,
  directUrl,
  leaseMs = 1_000,
  config = CONFIG,
  ...model
}: SiteOptions): Promise<Site> {
  // Usually on a disk: commits of an embedded store take longer there, so more of them are under way when a gateway is killed.
  const folder = await mkdtemp(join(diskFolder(), 'lastcall-site-'));
  await writeFile(join(folder, CONFIG_FILE), config);
  const server = await startLoopbackModel(model);
  const gateways: GatewayProcess[] = [];
  let reader: Kysely<Tables> | undefined;
  const optionsOf = (name: string, env: Readonly<Record<string, string>> = {}): ProcessOptions => ({
    name,
    folder,
    env: {
      PORT: '0',
      LASTCALL_SECRET_KEY: SECRET_KEY,
      LASTCALL_MODEL: 'openai-compatible/loopback',
      LASTCALL_MODEL_URL: server.url,
      LASTCALL_MODEL_KEY: name,
      LASTCALL_LEASE_MS: String(leaseMs),
      // Identifies the gateway of a connection on the server.
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: `${databaseUrl}?application_name=${name}` }),
      ...(directUrl === undefined ? {} : { DATABASE_DIRECT_URL: `${directUrl}?application_name=${name}` }),
      ...env,
    },
  });
  return {
    folder,
    model: server,
    gateways,
    get db() {
      return (reader ??= openReader(directUrl ?? databaseUrl, folder));
    },
    async start(name, env, options) {
      const started = await GatewayProcess.start({ ...optionsOf(name, env), ...options });
      gateways.push(started);
      return started;
    },
    runToEnd: (env) => GatewayProcess.runToEnd(optionsOf('refused', env)),
    async effects() {
      const text = await readFile(join(folder, EFFECTS), 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Effect);
    },
    async [Symbol.asyncDispose]() {
      for (const gateway of gateways) await gateway.kill();
      await reader?.destroy();
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function openReader(databaseUrl: string | undefined, folder: string): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect:
      databaseUrl === undefined
        ? sqliteDialect(
            new SqliteDriver(new DatabaseSync(join(folder, '.lastcall', 'lastcall.db'), { readOnly: true })),
          )
        : new PostgresDialect({ pool: createPool(databaseUrl, 2) }),
  });
}

/** Ids by name. */
export interface Place {
  readonly spaces: Readonly<Record<string, string>>;
  readonly entities: Readonly<Record<string, string>>;
}

export async function findPlace(url: string): Promise<Place> {
  const { items: spaces } = await ask(url, '/api/spaces');
  const { items: entities } = await ask(url, '/api/entities');
  return {
    spaces: Object.fromEntries(spaces.map(({ id, name }: { id: string; name: string }) => [name, id])),
    entities: Object.fromEntries(
      entities.map(({ id, displayName }: { id: string; displayName: string }) => [displayName, id]),
    ),
  };
}

/** Posts a message as a service, which joins the space first. Returns the message's id. */
export async function relay(url: string, space: 'North' | 'South', text: string): Promise<string> {
  const { spaces } = await findPlace(url);
  const { id: entityId } = await ask(url, '/api/entities', { kind: 'service', displayName: 'Relay' });
  await ask(url, `/api/spaces/${spaces[space]}/members`, { entityId });
  const { id } = await ask(url, `/api/spaces/${spaces[space]}/messages`, { entityId, text });
  return id;
}

/** Posts a message as the person of the space, Ada in the north and Bob in the south. Returns the message's id. */
export async function say(url: string, space: 'North' | 'South', text: string): Promise<string> {
  const { spaces, entities } = await findPlace(url);
  const entityId = entities[space === 'North' ? 'Ada' : 'Bob'];
  const { id } = await ask(url, `/api/spaces/${spaces[space]}/messages`, { entityId, text });
  return id;
}
