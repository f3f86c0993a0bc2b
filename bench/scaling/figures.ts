import { availableParallelism } from 'node:os';
import { percentile } from '../gateway/percentiles.ts';
import { type Report, toMarkdown } from '../report.ts';
import type { Measured, MeasuredRun } from './measured.ts';
import { type Network, type Simulated, simulate, type Visit } from './queueing.ts';

/** Milliseconds of processor time per message. */
interface Costs {
  readonly gatewayMs: number;
  readonly databaseMs: number;
  readonly otherMs: number;
}

/** A gateway waits for the database this often per message: when it is posted, claimed, journaled and ended. */
const ROUND_TRIPS = 4;
const SIMULATED_MESSAGES = 20_000;
/** More messages under way per gateway do not make a busy gateway faster. */
const UNDER_WAY = 64;
const GATEWAYS = [1, 2, 4, 8, 16];
const PROCESSORS = [2, 4, 8, 16, 32];
/** At this share of its capacity a system has room for a busy minute. */
const LOAD = 0.7;
const MANY_CONNECTIONS = 10_000;
/** Connections of the pooler to the server, for each processor of the server. */
const POOL_PER_PROCESSOR = 4;

/** The part of docs/scaling.md that has figures. */
export function toFigures(measured: Measured, madeOn: string): string {
  const parts = [measuredTable(measured), checkTable(measured), capacityTable(measured), connectionsTable(measured)];
  return [madeOn, ...parts.map((report) => toMarkdown(report).trim())].join('\n\n');
}

function measuredTable({ one, two, pooled }: Measured): Report {
  const row = (name: string, run: MeasuredRun): Report['rows'][number] => [
    name,
    run.perSecond,
    run.gatewayMs,
    run.databaseMs,
    run.connections,
    run.foreignProcessors,
  ];
  return {
    title: 'Measured',
    claim:
      'Messages from outside, as in `npm run bench posted`: gateways, database and client share one machine. The last column is how many processors ' +
      'other programs took meanwhile: the nearer to 0, the better the figures.',
    columns: [
      '',
      'messages per second',
      'gateway CPU, ms per message',
      'database CPU, ms per message',
      'connections to the server',
      'processors used by others',
    ],
    rows: [
      row('one gateway', one),
      row('two gateways', two),
      row('one gateway behind a pooler in transaction mode', pooled),
    ],
    findings: [
      `A message behind the pooler costs the gateway × ${ratio(pooled.gatewayMs, one.gatewayMs)} and the database × ${ratio(pooled.databaseMs, one.databaseMs)} of one without it.`,
    ],
  };
}

/** Runs the simulation that computes the table of capacity for the machine that was measured. */
function checkTable({ one, two }: Measured): Report {
  const rows = [one, two].map((run) => {
    const processors = Math.max(0.5, availableParallelism() - run.foreignProcessors);
    const { perSecond } = saturated(onOneMachine(run, { gateways: run.gateways, processors }), run.gateways);
    return [run.gateways, processors, run.perSecond, perSecond, `× ${ratio(perSecond, run.perSecond)}`];
  });
  return {
    title: 'The simulation, checked',
    claim:
      'What the simulation says about the machine that was measured, with the processors that others left. Costs are those of the same run.',
    columns: ['gateways', 'processors', 'measured, per second', 'simulated, per second', 'simulated / measured'],
    rows,
  };
}

function capacityTable({ one, two }: Measured): Report {
  return {
    title: 'Messages per second, simulated',
    claim:
      'Each gateway has its own processor, and the database has its own machine, with 2 to 32 processors. In brackets is the time that a message ' +
      `takes at ${LOAD * 100} % of that, p95, without the time of the model.`,
    columns: ['gateways', ...PROCESSORS.map((count) => `database with ${count} processors`)],
    rows: GATEWAYS.map((gateways) => [
      gateways,
      ...PROCESSORS.map((processors) => capacityOf(gateways === 1 ? one : two, { gateways, processors })),
    ]),
    findings: [
      `One gateway is busy at ${rounded(1_000 / one.gatewayMs)} messages per second. One processor of the database is busy at ${rounded(1_000 / two.databaseMs)}, so it serves ${rounded((10 * two.gatewayMs) / two.databaseMs) / 10} gateways.`,
    ],
  };
}

function capacityOf(costs: Costs, size: Size): string {
  const network = apart(costs, size);
  const { perSecond } = saturated(network, size.gateways);
  const { latencyMs } = simulate(network, { messages: SIMULATED_MESSAGES, arrivals: { perSecond: perSecond * LOAD } });
  return `${rounded(perSecond).toLocaleString('en')} (${Math.ceil(percentile(latencyMs, 0.95))} ms)`;
}

function connectionsTable({ one, pooled }: Measured): Report {
  const gateways = Math.floor(MANY_CONNECTIONS / one.connections);
  const counts = [10, 100, gateways];
  return {
    title: 'Connections to the server',
    claim:
      `The connections that PostgreSQL has open. A gateway opens ${one.connections} without a pooler. With one it opens ${pooled.connections}, beside the pool; ` +
      `the pool is that of a server with 32 processors, ${POOL_PER_PROCESSOR} for each.`,
    columns: ['gateways', 'without a pooler', 'with a pooler in transaction mode'],
    rows: counts.map((count) => [
      count,
      (count * one.connections).toLocaleString('en'),
      (count * pooled.connections + 32 * POOL_PER_PROCESSOR).toLocaleString('en'),
    ]),
  };
}

function saturated(network: Network, gateways: number): Simulated {
  return simulate(network, { messages: SIMULATED_MESSAGES, arrivals: { underWay: UNDER_WAY * gateways } });
}

interface Size {
  readonly gateways: number;
  /** Processors of the database's machine, or of the only machine. */
  readonly processors: number;
}

/** Each gateway has its own processor, and the database its own machine. */
function apart(costs: Costs, { gateways, processors }: Size): Network {
  const names = namesOf(gateways);
  return {
    hosts: { database: processors, ...Object.fromEntries(names.map((name) => [name, 1])) },
    stations: [
      { name: 'database', servers: processors, host: 'database' },
      ...names.map((name) => ({ name, servers: 1, host: name })),
    ],
    visits: (message) => roundTrips(costs, names[message % gateways] ?? ''),
  };
}

/** Gateways, database and client on one machine. */
function onOneMachine(costs: Costs, { gateways, processors }: Size): Network {
  const names = namesOf(gateways);
  const host = 'machine';
  return {
    hosts: { [host]: processors },
    stations: [
      { name: 'client', servers: 1, host },
      { name: 'database', servers: Math.ceil(processors), host },
      ...names.map((name) => ({ name, servers: 1, host })),
    ],
    visits: (message) => [
      { station: 'client', ms: costs.otherMs },
      ...roundTrips(costs, names[message % gateways] ?? ''),
    ],
  };
}

function roundTrips({ gatewayMs, databaseMs }: Costs, gateway: string): readonly Visit[] {
  return Array.from({ length: ROUND_TRIPS }, () => [
    { station: gateway, ms: gatewayMs / ROUND_TRIPS },
    { station: 'database', ms: databaseMs / ROUND_TRIPS },
  ]).flat();
}

function namesOf(gateways: number): readonly string[] {
  return Array.from({ length: gateways }, (_, index) => `gateway ${index + 1}`);
}

function ratio(one: number, other: number): string {
  return (one / other).toFixed(2);
}

function rounded(figure: number): number {
  return Number(figure.toPrecision(2));
}
