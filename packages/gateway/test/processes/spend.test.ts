import { describe, expect, test } from 'vitest';
import { ask } from './api.ts';
import { type Crew, openCrew, twoGateways } from './crew.ts';
import { until } from './until.ts';

const CONFIG = `import { spendConfig } from '${new URL('./spend-config.ts', import.meta.url).href}';
export default spendConfig;
`;

const logsOf = (crew: Crew): string => crew.site.gateways.map(({ printed }) => printed.out + printed.err).join('\n');

describe('spend limits of real gateways', () => {
  test('[K12] two gateways that work for one agent at once send no request above its limit, and count each once', async () => {
    await using crew = await openCrew({
      kind: 'postgres',
      config: CONFIG,
      // No lease may end by itself: a worker that takes a run over asks the model again.
      leaseMs: 60_000,
      decide: () => ({ text: 'Yes.', paceMs: 5 }),
    });
    const urls = crew.site.gateways.map(({ url }) => url);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        ask(urls[at % urls.length] ?? '', '/chat', { agent: 'Anna', message: `${at}` }),
      ),
    );
    const stops = answers.map(({ stop }) => stop.reason as string).sort();
    expect(stops).toEqual([...Array(16).fill('budget'), ...Array(8).fill('end_turn')]);
    expect(crew.site.model.requests).toHaveLength(8);
    for (const url of urls) {
      const { items } = await ask(url, '/api/usage?by=agent,kind');
      expect(items).toMatchObject([{ agentName: 'Anna', kind: 'turn', requests: 8, cost: 8, estimated: false }]);
    }
    expect(logsOf(crew).match(/has spent 8 of 8 USD/g)).toHaveLength(1);
  });

  test.each(twoGateways)(
    '[K12] if a gateway is killed between a request and its count, on $kind the request counts with an estimate',
    async ({ kind }) => {
      const never = new Promise<never>(() => {});
      await using crew = await openCrew({
        kind,
        config: CONFIG,
        decide: () => (crew.site.model.requests.length === 1 ? { text: 'No.', hold: never } : { text: 'Yes.' }),
      });
      const [{ id }] = (await ask(crew.first.url, '/api/agents')).items;
      await ask(crew.first.url, `/api/agents/${id}/events`, { source: 'test', name: 'ping' });
      const [request] = await until('the model is asked', () => {
        const { requests } = crew.site.model;
        return requests.length > 0 && requests;
      });
      // The reservation is in the database before the request is sent.
      const reserved = await crew.site.db.selectFrom('usage_requests').select(['reserved', 'cost']).execute();
      expect(reserved).toEqual([{ reserved: 1, cost: 1 }]);
      const { url } = await crew.crash(request?.gateway ?? '');
      const [sum] = await until('both are counted', async () => {
        const { items } = await ask(url, '/api/usage?by=agent');
        return items[0]?.requests === 2 && items;
      });
      expect(sum).toMatchObject({ requests: 2, outputTokens: 10, cost: 2, estimated: true });
      expect(crew.site.model.requests).toHaveLength(2);
    },
  );
});
