import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { startWebSite } from '../support/web-site.ts';
import { doDuties } from './answering.ts';
import { crashCallers } from './crash-callers.ts';
import { type Crew, openCrew, twoGateways } from './crew.ts';
import { orderResult } from './order-server.ts';
import { say } from './site.ts';
import { until } from './until.ts';

/** An MCP server that never answers the first call of a tool. */
interface Orders extends AsyncDisposable {
  /** The server in the text of a configuration. */
  readonly server: string;
  readonly allow: string;
  /** The tool of each call. */
  calls(): Promise<readonly string[]>;
}

async function overStdio(): Promise<Orders> {
  const folders = new AsyncDisposableStack();
  const log = join(await scratchFolder('orders', (remove) => folders.defer(remove)), 'log');
  await writeFile(log, '');
  const script = new URL('./order-server.ts', import.meta.url).pathname;
  const args = `[${JSON.stringify(script)}, ${JSON.stringify(log)}]`;
  const env = JSON.stringify({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' });
  return {
    server: `{ name: 'shop', transport: 'stdio', command: process.execPath, args: ${args}, env: ${env}, trusted: true, tools: { ask: { visible: true } } }`,
    allow: '',
    calls: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== ''),
    [Symbol.asyncDispose]: () => folders.disposeAsync(),
  };
}

async function overHttp(): Promise<Orders> {
  const calls: string[] = [];
  const site = await startWebSite(({ method, body }, response) => {
    if (method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(body);
    if (message.id === undefined) return response.writeHead(202).end();
    if (message.method === 'tools/call') {
      const { name } = message.params;
      calls.push(name);
      if (calls.indexOf(name) === calls.length - 1) return;
    }
    const result = orderResult(message.method);
    const answer = result === undefined ? { error: { code: -32_601, message: 'unknown method' } } : { result };
    return response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
  });
  return {
    server: `{ name: 'shop', transport: 'http', url: '${site.url}', trusted: true }`,
    allow: `'${site.host}'`,
    calls: async () => calls,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

const configFor = ({ server, allow }: Orders): string => `
import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
export default {
  ...processConfig,
  agents: processConfig.agents.map((agent) => ({ ...agent, mcp: { servers: [${server}] } })),
  egress: { allow: [${allow}] },
};
`;

/** Long enough that no call is taken over from a gateway that is only slow, before it is killed. */
const LEASE_MS = 4_000;

const TRANSPORTS = { stdio: overStdio, http: overHttp } as const;
const cases = [
  { kind: 'sqlite', transport: 'stdio' },
  { kind: 'postgres', transport: 'http' },
] as const;

/** One agent is inside each of these calls when their gateway dies. */
const CALLS = [
  { agent: 'Anna', space: 'North', name: 'order', ref: 'm1' },
  { agent: 'Bert', space: 'North', name: 'order_once', ref: 'm2' },
  { agent: 'Cleo', space: 'South', name: 'look', ref: 'm3' },
] as const;

interface Played {
  readonly calls: readonly string[];
  readonly outcomes: unknown[];
}

// One after the other: a takeover waits only seconds for the server of a call that it may repeat, and in parallel their
// processes would prevent each other from starting in time.
describe.each(cases)('a gateway on $kind is killed inside MCP calls over $transport', ({ kind, transport }) => {
  const played = new Map<string, Played>();
  beforeAll(async () => {
    await using orders = await TRANSPORTS[transport]();
    await using crew = await openCrew({ kind, leaseMs: LEASE_MS, decide: doDuties, config: configFor(orders) });
    for (const { agent, space, name, ref } of CALLS) await say(crew.first.url, space, `${agent}: shop__${name} ${ref}`);
    await until('the first calls', async () => (await orders.calls()).length >= CALLS.length);
    await crashCallers(crew);
    await crew.answered(...CALLS.map(({ ref }) => ref));
    expect(await crew.problems()).toEqual([]);
    for (const { name } of CALLS) {
      const calls = (await orders.calls()).filter((called) => called === name);
      played.set(name, { calls, outcomes: await outcomesOf(crew, `shop__${name}`) });
    }
  });

  test('[R48] [X15] a call that may have acted has an unknown outcome, and the server was called once', () => {
    const { calls, outcomes } = played.get('order') ?? {};
    expect(calls).toHaveLength(1);
    expect(outcomes).toEqual([expect.objectContaining({ status: 'error', code: 'unknown_outcome' })]);
  });

  test.each(['order_once', 'look'])(
    '[R48] [X16] %s may run twice, and is called again by the worker that takes over',
    (name) => {
      const { calls, outcomes } = played.get(name) ?? {};
      expect(calls).toHaveLength(2);
      expect(outcomes).toEqual([expect.objectContaining({ status: 'ok', value: 'done' })]);
    },
  );
});

test.each(twoGateways)(
  '[X18] a gateway on $kind is killed while a server asks in an open call: the call is an unknown outcome, its card is cancelled',
  async ({ kind }) => {
    await using orders = await overStdio();
    await using crew = await openCrew({ kind, leaseMs: LEASE_MS, decide: doDuties, config: configFor(orders) });
    await say(crew.first.url, 'North', 'Anna: shop__ask m1');
    const questions = () =>
      crew.site.db.selectFrom('calls').select(['id', 'wait_status']).where('during_call', 'is not', null).execute();
    const asked = await until('the question', async () => (await questions())[0]);
    expect(asked.wait_status).toBe('pending');
    await crashCallers(crew);
    await crew.answered('m1');
    expect(await outcomesOf(crew, 'shop__ask')).toEqual([
      expect.objectContaining({ status: 'error', code: 'unknown_outcome' }),
    ]);
    expect(await questions()).toEqual([{ id: asked.id, wait_status: 'cancelled' }]);
    const card = crew.site.db.selectFrom('messages').select('status').where('call_id', '=', asked.id);
    expect(await card.execute()).toEqual([{ status: 'cancelled' }]);
    expect(await crew.problems()).toEqual([]);
  },
);

async function outcomesOf({ site }: Crew, toolName: string): Promise<unknown[]> {
  const calls = site.db.selectFrom('calls').select('outcome').where('tool_name', '=', toolName);
  // Without questions during the calls.
  const own = await calls.where('during_call', 'is', null).execute();
  return own.map(({ outcome }) => fromJson(outcome ?? 'null'));
}
