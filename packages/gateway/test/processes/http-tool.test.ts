import { expect, test } from 'vitest';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { doDuties } from './answering.ts';
import { crashCallers } from './crash-callers.ts';
import { type Crew, openCrew, twoGateways } from './crew.ts';
import { say } from './site.ts';
import { until } from './until.ts';

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

test.each(twoGateways)(
  '[R48] [X10] a gateway on $kind is killed inside HTTP tools: a call that may not be repeated has an unknown outcome and was sent once; an idempotent one is sent again with the same key',
  async ({ kind }) => {
    // The first request of each order gets no answer.
    await using site = await startWebSite(({ url }, response) => {
      if (site.requests.filter((one) => one.url === url).length > 1)
        response.setHeader('content-type', 'application/json').end('{"ordered":true}');
    });
    const ofOrder = (ref: string) => site.requests.filter(({ url }) => url === `/orders/${ref}`);
    // Long enough that no call is taken over from a gateway that is only slow, before it is killed.
    const leaseMs = 4_000;
    await using crew = await openCrew({ kind, leaseMs, decide: doDuties, config: configFor(site), env: ENV });
    await say(crew.first.url, 'North', 'Anna: order m1');
    await say(crew.first.url, 'South', 'Cleo: order_once m2');
    await until('both orders', () => site.requests.length === 2);
    await crashCallers(crew);
    await crew.answered('m1', 'm2');
    expect(await crew.problems()).toEqual([]);

    expect(ofOrder('m1')).toHaveLength(1);
    expect(await outcomesOf(crew, 'order')).toEqual([
      expect.objectContaining({ status: 'error', code: 'unknown_outcome' }),
    ]);

    const [first, second, ...more] = ofOrder('m2');
    expect(more).toEqual([]);
    expect(second?.headers['x-gateway']).not.toBe(first?.headers['x-gateway']);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(first?.headers['idempotency-key']).toEqual(expect.any(String));
    expect(second?.body).toBe(first?.body);
    expect(await outcomesOf(crew, 'order_once')).toEqual([
      expect.objectContaining({ status: 'ok', value: { ordered: true } }),
    ]);
  },
);

const ENV = { ORDER_KEY: 'a-key-for-orders' };

async function outcomesOf({ site }: Crew, toolName: string): Promise<unknown[]> {
  const calls = await site.db.selectFrom('calls').select('outcome').where('tool_name', '=', toolName).execute();
  return calls.map(({ outcome }) => fromJson(outcome ?? 'null'));
}
