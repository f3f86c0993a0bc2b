import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { type Ids, operationsOf, requestFor, type Sent } from '../fuzz/odd-requests.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { type Database, databases } from '../support/stores.ts';
import { type Api, type Document, openApi } from './api.ts';

/** Number of requests. On PostgreSQL each takes longer, and only values that its columns refuse are new. */
const RUNS = { sqlite: 1_000, postgres: 150 };

describe.each(databases)('odd requests, on $kind', ({ kind, create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: 1_000_000 }));
  let document: Document;
  let ids: Ids;
  beforeAll(async () => {
    document = (await api.done('GET', '/openapi.json')) as unknown as Document;
    const [ada, ...agents] = [await api.person(), await api.agent(), await api.agent(), await api.agent()];
    const spaces = [await api.space(ada, ...agents), await api.space()];
    const runs = await Promise.all(agents.map((agent) => api.run(agent)));
    ids = { entities: [ada, ...agents], agents, spaces, runs, keys: ['none'] };
  });

  test('[G54] [G53] odd requests are answered, never with 5xx, always in one shape; and a refused one has written nothing', async () => {
    const arbitrary = fc.constantFrom(...operationsOf(document)).chain((operation) => requestFor(operation, ids));
    using state = stateOf(api, database);
    let before = await state.read();
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(arbitrary, async (sent) => {
        const response = await send(api, sent);
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
        expect(response.status).toBeLessThan(500);
        if (response.status < 400 || response.status === CLIENT_GONE) {
          await response.body?.cancel();
          before = await state.read();
          return;
        }
        const { error, ...rest } = await refusalOf(response);
        // The MCP server speaks JSON-RPC to authenticated callers.
        const shape = 'jsonrpc' in rest ? ['number', 'string', { jsonrpc: '2.0', id: null }] : ['string', 'string', {}];
        expect([typeof error.code, typeof error.message, rest]).toEqual(shape);
        expect(JSON.stringify(error)).not.toMatch(/\bat \S+ \(|node_modules|\.ts:\d/);
        expect(await state.read()).toBe(before);
      }),
      { numRuns: RUNS[kind] },
    );
    // The requests are invalid in many ways, and some are valid: otherwise the test would prove nothing.
    const ways = kind === 'sqlite' ? [200, 201, 400, 404, 415, 422] : [200, 404, 422];
    expect(ways.filter((status) => !seen.has(status))).toEqual([]);
    expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** The status of requests that started a run and would wait for it. No worker runs here, so the client disconnects. */
const CLIENT_GONE = 499;
const WAIT_MS = 100;

/** An error in the usual shape. If clients show the body to people, it is only the message, and the code is in a header. */
async function refusalOf(response: Response): Promise<{ error: { code: unknown; message: unknown } }> {
  if (response.headers.get('content-type')?.startsWith('text/plain') !== true)
    return (await response.json()) as { error: { code: unknown; message: unknown } };
  return { error: { code: response.headers.get('x-error-code'), message: await response.text() } };
}

async function send(api: Api, { method, path, headers, body }: Sent): Promise<Response> {
  return await api.app.fetch(
    new Request(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${api.key}`, ...headers },
      signal: AbortSignal.timeout(WAIT_MS),
      ...(body === undefined ? {} : { body }),
    }),
  );
}

const TABLES: readonly (keyof Tables)[] = [
  'entities',
  'agents',
  'threads',
  'spaces',
  'memberships',
  'messages',
  'inbox_events',
  'runs',
  'streams',
  'stream_events',
  'api_keys',
];

interface State extends Disposable {
  read(): Promise<string>;
}

/** A state that changes with every write. SQLite counts commits of other connections; reading everything takes longer than the requests. */
function stateOf(api: Api, { kind, location }: Database): State {
  if (kind === 'postgres') return { read: () => contents(api), [Symbol.dispose]: () => {} };
  const beside = new DatabaseSync(join(location, 'lastcall.db'), { readOnly: true });
  const version = beside.prepare('pragma data_version');
  return { read: async () => JSON.stringify(version.get()), [Symbol.dispose]: () => beside.close() };
}

/** Everything a request could have changed. */
async function contents({ store }: Api): Promise<string> {
  const all = [];
  for (const table of TABLES) {
    const rows = await store.db.selectFrom(table).selectAll().execute();
    // Databases return rows in any order.
    all.push(rows.map((row) => JSON.stringify(row)).sort());
  }
  return JSON.stringify(all);
}
