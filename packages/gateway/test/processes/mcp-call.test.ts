import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fromJson } from '../../src/ports/store/json.ts';
import { startWebSite } from '../support/web-site.ts';
import { doDuties } from './answering.ts';
import { type Crew, kinds, openCrew } from './crew.ts';
import { orderResult } from './order-server.ts';
import { say } from './site.ts';
import { until } from './until.ts';

/** An MCP server whose first call is never answered. */
interface Orders extends AsyncDisposable {
  /** The server in the text of a configuration. */
  readonly server: string;
  readonly allow: string;
  /** The tool of each call. */
  calls(): Promise<readonly string[]>;
}

async function overStdio(): Promise<Orders> {
  const log = join(await mkdtemp(join(tmpdir(), 'lastcall-orders-')), 'log');
  await writeFile(log, '');
  const script = new URL('./order-server.ts', import.meta.url).pathname;
  const args = `[${JSON.stringify(script)}, ${JSON.stringify(log)}]`;
  return {
    server: `{ name: 'shop', transport: 'stdio', command: process.execPath, args: ${args}, trusted: true, tools: { ask: { visible: true } } }`,
    allow: '',
    calls: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== ''),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function overHttp(): Promise<Orders> {
  const calls: string[] = [];
  const site = await startWebSite(({ method, body }, response) => {
    if (method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(body);
    if (message.id === undefined) return response.writeHead(202).end();
    if (message.method === 'tools/call') calls.push(message.params.name);
    if (message.method === 'tools/call' && calls.length === 1) return;
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

/** Kills the gateway that makes the first call. The configuration is the same for all, so the lease says which it is. */
async function crashCaller(crew: Crew, orders: Orders): Promise<void> {
  await until('the first call', async () => (await orders.calls()).length > 0);
  const threads = crew.site.db.selectFrom('threads').select('lease_owner').where('lease_owner', 'is not', null);
  const [, pid] = (await threads.executeTakeFirstOrThrow()).lease_owner?.split(':') ?? [];
  const caller = crew.site.gateways.find((one) => one.pid === Number(pid));
  await crew.crash(caller?.name ?? 'nobody');
}

const TRANSPORTS = { stdio: overStdio, http: overHttp } as const;
const cases = kinds.flatMap(({ kind }) => (['stdio', 'http'] as const).map((transport) => ({ kind, transport })));

// Most of their time they wait for a lease to run out.
describe.each(cases)(
  'a gateway on $kind is killed inside an MCP call over $transport',
  { concurrent: true },
  ({ kind, transport }) => {
    const play = async (toolName: string): Promise<{ calls: readonly string[]; outcomes: unknown[] }> => {
      await using orders = await TRANSPORTS[transport]();
      await using crew = await openCrew({ kind, decide: doDuties, config: configFor(orders) });
      await say(crew.first.url, 'North', `Anna: shop__${toolName} m1`);
      await crashCaller(crew, orders);
      await crew.answered('m1');
      expect(await crew.problems()).toEqual([]);
      return { calls: await orders.calls(), outcomes: await outcomesOf(crew, `shop__${toolName}`) };
    };

    test('[R48] [X15] what may have acted is an unknown outcome, and the server was called once', async () => {
      const { calls, outcomes } = await play('order');
      expect(calls).toHaveLength(1);
      expect(outcomes).toEqual([expect.objectContaining({ status: 'error', code: 'unknown_outcome' })]);
    });

    test.each(['order_once', 'look'])(
      '[R48] [X16] %s may run twice, and is called again by whoever takes over',
      async (name) => {
        const { calls, outcomes } = await play(name);
        expect(calls).toHaveLength(2);
        expect(outcomes).toEqual([expect.objectContaining({ status: 'ok', value: 'done' })]);
      },
    );
  },
);

test.each(kinds)(
  '[X18] a gateway on $kind is killed while a server asks in an open call: the call is an unknown outcome, its card is cancelled',
  async ({ kind }) => {
    await using orders = await overStdio();
    await using crew = await openCrew({ kind, decide: doDuties, config: configFor(orders) });
    await say(crew.first.url, 'North', 'Anna: shop__ask m1');
    const questions = () => crew.site.db.selectFrom('pending_calls').select(['call_id', 'status']).execute();
    const asked = await until('the question', async () => (await questions())[0]);
    expect(asked.status).toBe('pending');
    await crashCaller(crew, orders);
    await crew.answered('m1');
    expect(await outcomesOf(crew, 'shop__ask')).toEqual([
      expect.objectContaining({ status: 'error', code: 'unknown_outcome' }),
    ]);
    expect(await questions()).toEqual([{ call_id: asked.call_id, status: 'cancelled' }]);
    const card = crew.site.db.selectFrom('messages').select('status').where('call_id', '=', asked.call_id);
    expect(await card.execute()).toEqual([{ status: 'cancelled' }]);
    expect(await crew.problems()).toEqual([]);
  },
);

async function outcomesOf({ site }: Crew, toolName: string): Promise<unknown[]> {
  const calls = await site.db.selectFrom('calls').select('outcome').where('tool_name', '=', toolName).execute();
  return calls.map(({ outcome }) => fromJson(outcome ?? 'null'));
}
