import { describe, expect, test } from 'vitest';
import { fromJson } from '../../src/ports/store/json.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { doDuties } from './answering.ts';
import { type Crew, kinds, openCrew } from './crew.ts';
import { say } from './site.ts';

/** Two tools as data that call the same server: one may be repeated, one may not. */
const configFor = (site: WebSite): string => `
import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
const call = {
  executionType: 'gateway',
  inputSchema: { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] },
  execution: {
    url: '${site.url}/orders/{{input.ref}}',
    method: 'POST',
    headers: { 'X-Gateway': process.env.LASTCALL_MODEL_KEY, Authorization: 'Bearer \${env.ORDER_KEY}' },
  },
};
const tools = { order: call, order_once: { ...call, idempotent: true } };
export default {
  ...processConfig,
  tools,
  agents: processConfig.agents.map((agent) => ({ ...agent, tools: Object.keys(tools) })),
  secrets: ['ORDER_KEY'],
  egress: { allow: ['${site.host}'] },
};
`;

/** Keeps the first request waiting, for whoever is to die of it, and answers the others. */
async function startOrders(): Promise<{ site: WebSite; victim: Promise<string> }> {
  const { promise: victim, resolve } = Promise.withResolvers<string>();
  const site = await startWebSite(({ headers }, response) => {
    if (site.requests.length === 1) resolve(String(headers['x-gateway']));
    else response.setHeader('content-type', 'application/json').end('{"ordered":true}');
  });
  return { site, victim };
}

describe.each(kinds)('a gateway on $kind is killed', ({ kind }) => {
  test('[R48] inside an HTTP tool: what may not be repeated is an unknown outcome, and the server was asked once', async () => {
    const orders = await startOrders();
    await using site = orders.site;
    await using crew = await openCrew({ kind, decide: doDuties, config: configFor(site), env: ENV });
    await say(crew.first.url, 'North', 'Anna: order m1');
    await crew.crash(await orders.victim);
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(site.requests).toHaveLength(1);
    expect(await outcomesOf(crew, 'order')).toEqual([
      expect.objectContaining({ status: 'error', code: 'unknown_outcome' }),
    ]);
  });

  test('[R48] [X10] inside an idempotent HTTP tool: it is called again with the same key', async () => {
    const orders = await startOrders();
    await using site = orders.site;
    await using crew = await openCrew({ kind, decide: doDuties, config: configFor(site), env: ENV });
    await say(crew.first.url, 'North', 'Anna: order_once m1');
    await crew.crash(await orders.victim);
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(site.requests).toHaveLength(2);
    const [first, second] = site.requests;
    expect(second?.headers['x-gateway']).not.toBe(first?.headers['x-gateway']);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect([second?.url, second?.body]).toEqual([first?.url, first?.body]);
    expect(await outcomesOf(crew, 'order_once')).toEqual([
      expect.objectContaining({ status: 'ok', value: { ordered: true } }),
    ]);
  });
});

const ENV = { ORDER_KEY: 'a-key-for-orders' };

async function outcomesOf({ site }: Crew, toolName: string): Promise<unknown[]> {
  const calls = await site.db.selectFrom('calls').select('outcome').where('tool_name', '=', toolName).execute();
  return calls.map(({ outcome }) => fromJson(outcome ?? 'null'));
}
