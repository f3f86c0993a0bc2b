import { expect, test } from 'vitest';
import { type Network, simulate } from '../scaling/queueing.ts';

const single = (servers: number, processors = servers): Network => ({
  hosts: { machine: processors },
  stations: [{ name: 'server', servers, host: 'machine' }],
  visits: () => [{ station: 'server', ms: 2 }],
});
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

test('a queue with one server takes as long as theory says: the service time by the part of the time that it is idle', () => {
  for (const load of [0.3, 0.6, 0.8]) {
    const { latencyMs, utilization } = simulate(single(1), { messages: 200_000, arrivals: { perSecond: load * 500 } });
    expect(mean(latencyMs)).toBeCloseTo(2 / (1 - load), 0);
    expect(utilization.server).toBeCloseTo(load, 1);
  }
});

test('servers that are always busy handle as many messages as they can, limited by the processors of their host', () => {
  const rateOf = (network: Network): number =>
    simulate(network, { messages: 50_000, arrivals: { underWay: 20 } }).perSecond;
  expect(rateOf(single(1)) / 500).toBeCloseTo(1, 1);
  expect(rateOf(single(4)) / 2_000).toBeCloseTo(1, 1);
  expect(rateOf(single(4, 2)) / 1_000).toBeCloseTo(1, 1);
  expect(rateOf(single(4, 1.5)) / 750).toBeCloseTo(1, 1);
});

test('messages that visit two servers in turns are limited by the slower one', () => {
  const network: Network = {
    hosts: { one: 1, other: 1 },
    stations: [
      { name: 'gateway', servers: 1, host: 'one' },
      { name: 'database', servers: 1, host: 'other' },
    ],
    visits: () => [
      { station: 'gateway', ms: 1 },
      { station: 'database', ms: 2 },
    ],
  };
  const { perSecond, utilization } = simulate(network, { messages: 50_000, arrivals: { underWay: 50 } });
  expect(perSecond / 500).toBeCloseTo(1, 1);
  expect(utilization.gateway).toBeCloseTo(0.5, 1);
  expect(utilization.database).toBeCloseTo(1, 1);
});

test('the same seed gives the same figures', () => {
  const load = { messages: 2_000, arrivals: { perSecond: 300 }, seed: 7 };
  expect(simulate(single(1), load)).toEqual(simulate(single(1), load));
});
