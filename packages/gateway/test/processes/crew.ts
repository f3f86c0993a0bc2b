import { Client } from 'pg';
import { onPooledPostgres } from '../support/pooled-postgres.ts';
import { onPostgres } from '../support/stores.ts';
import { answerText } from './answering.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { openSite, type Site, type SiteOptions } from './site.ts';
import { isIdle, problemsOf } from './soundness.ts';
import { until } from './until.ts';

export const kinds = [{ kind: 'sqlite' }, { kind: 'postgres' }] as const;

/** For tests that do not depend on the database: two gateways can share only PostgreSQL. */
export const twoGateways: readonly { readonly kind: 'postgres' }[] = [{ kind: 'postgres' }];

/** The gateways of a database: two on PostgreSQL, one on SQLite. */
export interface Crew extends AsyncDisposable {
  readonly site: Site;
  /** A connection to PostgreSQL, bypassing the gateways. */
  connect(): Promise<Client>;
  readonly first: GatewayProcess;
  named(name: string): GatewayProcess;
  /** Kills this gateway. Returns a living one: the other, or the successor if there was only one. */
  crash(name: string): Promise<GatewayProcess>;
  /** Resolves once the agents have answered these requests and are idle. */
  answered(...refs: readonly string[]): Promise<void>;
  problems(): Promise<string[]>;
}

export interface CrewOptions extends Omit<SiteOptions, 'databaseUrl' | 'directUrl'> {
  readonly kind: 'sqlite' | 'postgres';
  /** Puts a pooler in transaction mode in front of PostgreSQL. */
  readonly isPooled?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** `TEST_POOLED=1 vitest run …` puts a pooler in front of every crew's PostgreSQL. */
const ALL_POOLED = process.env.TEST_POOLED === '1';

export async function openCrew({ kind, isPooled = ALL_POOLED, env, ...options }: CrewOptions): Promise<Crew> {
  const database = kind === 'sqlite' ? undefined : await (isPooled ? onPooledPostgres : onPostgres).create();
  const { location, pooledUrl } = database ?? {};
  const urls = pooledUrl === undefined ? { databaseUrl: location } : { databaseUrl: pooledUrl, directUrl: location };
  const site = await openSite({ ...options, ...urls });
  const start = (name: string): Promise<GatewayProcess> => site.start(name, env);
  // Started in parallel, so that a simultaneous start is tested too.
  const [first] = await Promise.all(kind === 'sqlite' ? [start('a')] : [start('a'), start('b')]);
  if (first === undefined) throw new Error('Nobody started.');
  const living = (): GatewayProcess | undefined => site.gateways.find(({ isRunning }) => isRunning);
  const named = (name: string): GatewayProcess => {
    const found = site.gateways.find((one) => one.name === name && one.isRunning);
    if (found === undefined) throw new Error(`No gateway ${name} is running.`);
    return found;
  };
  return {
    site,
    first,
    async connect() {
      const client = new Client({ connectionString: database?.location });
      // Removing the database closes connections that are still open.
      client.on('error', () => {});
      await client.connect();
      return client;
    },
    named,
    async crash(name) {
      await named(name).kill();
      return living() ?? (await start('successor'));
    },
    answered: (...refs) => answered(site, refs),
    async problems() {
      await until('all leases let go', () => isIdle(site));
      return await problemsOf(site);
    },
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await database?.remove();
    },
  };
}

async function answered({ db }: Site, refs: readonly string[]): Promise<void> {
  const texts = refs.map((ref) => JSON.stringify(answerText(ref)));
  await until(`answers to ${refs}`, async () => {
    const found = await db.selectFrom('messages').select('content').where('content', 'in', texts).execute();
    return found.length >= refs.length;
  });
}
