import { Client } from 'pg';
import { StoreRefused } from '../store-error.ts';

/** What is between the gateway and the server. A session pooler keeps one connection of the server for each of its clients. */
export type PoolerMode = 'none' | 'session' | 'transaction';

/** How often the two probes are asked. Other clients of the pooler may take connections in between. */
const ROUNDS = 4;
const TIMEOUT_MS = 10_000;

/**
 * Finds out whether a pooler hands out its connections by transaction. A server tells each connection the id of its process. A pooler
 * cannot, because it may serve a client by several processes: so only if the id is wrong, two connections are asked in turns which process
 * serves them. One that changes, or the same one for both, means that transactions share connections.
 */
export async function poolerModeOf(url: string): Promise<PoolerMode> {
  const [one, other] = [probe(url), probe(url)];
  try {
    await one.connect();
    const first = await backendOf(one);
    if (first === (one as { processID?: number }).processID) return 'none';
    await other.connect();
    for (let round = 0; round < ROUNDS; round++) {
      // In a pooler that hands them out in turns, strict turns of two clients would each get the same one again.
      const own = [await backendOf(one), await backendOf(one)];
      if (own.some((pid) => pid !== first) || (await backendOf(other)) === first) return 'transaction';
    }
    return 'session';
  } finally {
    await Promise.all([one.end().catch(() => {}), other.end().catch(() => {})]);
  }
}

/**
 * Throws a StoreRefused that says what to do if the store could not work over these URLs: it needs either sessions, or a second URL for
 * what only a session can do.
 */
export async function assertPoolerFits(url: string, directUrl: string | undefined): Promise<void> {
  if ((await poolerModeOf(directUrl ?? url)) !== 'transaction') return;
  const address = addressOf(directUrl ?? url);
  throw new StoreRefused(
    directUrl === undefined
      ? `A connection pooler in transaction mode answers at ${address}. LISTEN does not work through it. Set DATABASE_DIRECT_URL to the address of the PostgreSQL server itself, and leave DATABASE_URL as it is. Or set the pooler to session mode.`
      : `A connection pooler in transaction mode answers at ${address}, which is DATABASE_DIRECT_URL. Set it to the address of the PostgreSQL server itself.`,
  );
}

function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 5432}`;
}

function probe(url: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // The query that waits gets the error. Without a listener it would end the process.
  return client.on('error', () => {});
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
