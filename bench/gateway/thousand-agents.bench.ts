import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { heldAtLeast, heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { watch } from './client.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';
import type { Room } from './filling.ts';
import { percentile } from './percentiles.ts';
import { ranOn } from './ran-on.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';
import { wakeTime } from './wake-time.ts';

const AGENTS = 1_000;
/** One event is one run. */
const EVENTS_EACH = 8;
const PROBE_EVERY_MS = 100;
/** Room for all of them, and for those that are woken meanwhile. */
const tuning = { runs: 2_000 };

interface Rush {
  readonly name: string;
  readonly runsPerSecond: number;
  /** The peak of all gateways together, in bytes. */
  readonly memory: number;
  /** From a message to an idle agent until others see it awake. */
  readonly wakeMs: readonly number[];
}

/** All agents get work at once, and models take their time. */
export async function benchGatewayThousandAgents(): Promise<Report> {
  const databases = openDatabases();
  try {
    const sqlite = await rush('one gateway, SQLite FULL', await databases.sqlite(), 1);
    const one = await rush('one gateway, PostgreSQL', await databases.postgres(), 1);
    const two = await rush('two gateways, PostgreSQL', await databases.postgres(), 2);
    return toReport([sqlite, one, two]);
  } finally {
    await databases.close();
  }
}

async function rush(name: string, database: BenchDatabase, count: number): Promise<Rush> {
  const isShared = 'databaseUrl' in database.settings;
  const filling = await database.open();
  const agents = await filling.agents(AGENTS, { model: 'after-200-ms', tools: [task.toolName] });
  const [idle = ''] = await filling.agents(1, { model: 'instant', tools: [task.toolName] });
  const room = await filling.room(idle);
  // Only the gateway can open the embedded store, so the work is added before: it finds it when it looks for sleepers.
  if (!isShared) await filling.work(agents, EVENTS_EACH);
  if (!isShared) await filling.close();
  const tool = { terminal: true, visible: false };
  const spec = { settings: database.settings, tool, tuning };
  let observed: Awaited<ReturnType<typeof observe>>;
  const gateways = await Promise.all(Array.from({ length: count }, () => startGateway(spec)));
  try {
    if (isShared) await filling.work(agents, EVENTS_EACH);
    observed = await observe(gateways, room);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    if (isShared) await filling.close();
  }
  return { name, ...observed, runsPerSecond: await rateOf(database, idle) };
}

/** Watches until the work is done, and wakes an idle agent now and then. */
async function observe(gateways: readonly BenchGateway[], room: Room): Promise<Omit<Rush, 'name' | 'runsPerSecond'>> {
  const [first] = gateways as [BenchGateway];
  const watcher = await watch(first, room.spaceId);
  const wakeMs: number[] = [];
  let memory = 0;
  for (let ran = await ranOn(gateways); ran < AGENTS * EVENTS_EACH + wakeMs.length; ran += await ranOn(gateways)) {
    memory = Math.max(memory, await rssOf(gateways));
    if (ran > 0) wakeMs.push(await wakeTime(first, room, watcher));
    await sleep(PROBE_EVERY_MS);
  }
  watcher.close();
  return { memory, wakeMs };
}

async function rssOf(gateways: readonly BenchGateway[]): Promise<number> {
  const each = await Promise.all(gateways.map((gateway) => gateway.rss()));
  return each.reduce((sum, rss) => sum + rss, 0);
}

/** Runs per second of all agents except the one that was woken, from the start of the first run to the end of the last. */
async function rateOf(database: BenchDatabase, idle: string): Promise<number> {
  const filling = await database.open();
  const { count, from, to } = await filling.store.db
    .selectFrom('runs')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.min('created_at').as('from'),
      fn.max('ended_at').as('to'),
    ])
    .where('status', '=', 'completed')
    .where('thread_id', '!=', idle)
    .executeTakeFirstOrThrow();
  await filling.close();
  if (count !== AGENTS * EVENTS_EACH) throw new Error(`${count} runs were completed, not ${AGENTS * EVENTS_EACH}.`);
  return (count * 1_000) / ((to ?? Number.NaN) - from);
}

function toReport([sqlite, one, two]: readonly [Rush, Rush, Rush]): Report {
  return {
    title: 'A thousand agents with work at once',
    claim:
      `${AGENTS.toLocaleString('en')} agents with ${EVENTS_EACH} events each, a run for each event, a model that takes 200 ms, ` +
      'one call of a terminal tool. Meanwhile a message is sent now and then to an idle agent, and the time until another client ' +
      `sees \`agent.active\` is its wake. Gateways, database and clients share one machine of ${availableParallelism()} processors: a ` +
      'second gateway does not get the processor time that PostgreSQL uses.',
    columns: ['', 'runs per second', 'memory, MB', 'wakes', 'wake p50, ms', 'wake p95, ms'],
    rows: [sqlite, one, two].map(({ name, runsPerSecond, memory, wakeMs }) => [
      name,
      runsPerSecond,
      memory / 1e6,
      wakeMs.length,
      percentile(wakeMs, 0.5),
      percentile(wakeMs, 0.95),
    ]),
    findings: [
      heldAtLeast('One gateway on SQLite', sqlite.runsPerSecond, 300, ' runs/s'),
      heldAtLeast('One gateway on PostgreSQL', one.runsPerSecond, 300, ' runs/s'),
      heldAtLeast('Two gateways / one', two.runsPerSecond / one.runsPerSecond, 1.5),
      heldAtMost('An idle agent wakes on SQLite, p95', percentile(sqlite.wakeMs, 0.95), 50, ' ms'),
      heldAtMost('An idle agent wakes on PostgreSQL, p95', percentile(one.wakeMs, 0.95), 50, ' ms'),
    ],
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayThousandAgents()));
