import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dispatchCall } from '@lastcall/core';
import { Agent, request } from 'undici';
import { createEgress } from '../../packages/gateway/src/ports/egress/egress.ts';
import { httpTool } from '../../packages/gateway/src/runtime/tools/http/http-tool.ts';
import { KnownSecrets } from '../../packages/gateway/src/telemetry/known-secrets.ts';
import { createSecrets } from '../../packages/gateway/src/telemetry/secrets.ts';
import { heldAtMost } from '../held.ts';
import { quickestSideBySide } from '../measure.ts';
import type { Report } from '../report.ts';

const ENV = { API_KEY: 'a-key-of-some-length', OTHER_KEY: 'another-key-of-some-length' };
const BODY = JSON.stringify({
  city: 'Oslo',
  days: Array.from({ length: 7 }, (_, day) => ({ day, degrees: 20 - day })),
});
const MOST_US = 150;

/** What an HTTP tool costs above the request that it makes: schema, template, secrets, guard, limits, settlement. */
export async function benchGatewayHttpTool(): Promise<Report> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(BODY),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatcher = new Agent();
  const egress = createEgress({ allow: [host] });
  const bare = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${ENV.API_KEY}` };
    const { body } = await request(`http://${host}/weather/Oslo?days=7`, { dispatcher, headers });
    return await body.json();
  };
  const called = await createCall(host, egress);
  const [bareUs = 0, calledUs = 0] = await quickestSideBySide([bare, called], { rounds: 200, runsPerRound: 30 });
  await egress.close();
  await dispatcher.close();
  server.close();
  const above = calledUs - bareUs;
  return {
    title: 'An HTTP tool',
    claim: `A GET with a template and a secret, 300 bytes of JSON back, to a server in the same process; the quickest of 200 short rounds, in turns. Claim: the tool costs at most ${MOST_US} µs above a bare request of undici.`,
    columns: ['', 'µs per call', 'above the bare request, µs', 'against it'],
    rows: [
      ['`request` of undici, `body.json()`', bareUs, '–', '× 1.00'],
      ['the tool, by `dispatchCall`', calledUs, above, `× ${(calledUs / bareUs).toFixed(2)}`],
    ],
    findings: [heldAtMost('Above the bare call', above, MOST_US, ' µs')],
  };
}

async function createCall(host: string, egress: ReturnType<typeof createEgress>): Promise<() => Promise<unknown>> {
  const known = new KnownSecrets(Object.values(ENV));
  const { tool, timeoutMs } = httpTool(
    {
      name: 'weather',
      description: 'Weather.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      executionType: 'gateway',
      execution: {
        url: `http://${host}/weather/{{input.city}}?days=7`,
        headers: { Authorization: 'Bearer $' + '{env.API_KEY}' },
      },
    },
    { egress, secrets: createSecrets({ env: ENV, names: Object.keys(ENV), known }) },
  );
  const tools = { weather: { ...tool, timeoutMs } };
  const call = { toolName: 'weather', input: '{"city":"Oslo"}' };
  const { outcome } = await dispatchCall({ tools, call });
  if (outcome.status !== 'ok') throw new Error(`The call failed: ${outcome.text}`);
  return () => dispatchCall({ tools, call });
}
