import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Held, heldAtLeast, heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { busyMs, postgresPid, processorMsOf } from '../processor-time.ts';
import { type Report, toMarkdown } from '../report.ts';
import { watch } from './client.ts';
import { type BenchDatabase, type BenchDatabases, openDatabases } from './databases.ts';
import type { Filling, Room } from './filling.ts';
import { percentile } from './percentiles.ts';
import { postFromOutside } from './post-from-outside.ts';
import type { Post, Posted } from './poster-child.ts';
import { ranOn } from './ran-on.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';
import { countingStatements } from './statement-times.ts';
import { wakeTime } from './wake-time.ts';

// By environment, for profiles and other sizes; `docs/benchmarks.md` has the commands.
const AGENTS = Number(process.env.BENCH_AGENTS ?? 1_000);
const MESSAGES_EACH = Number(process.env.BENCH_MESSAGES ?? 8);
/** Connections of the client. With more, requests would wait in the client's queue instead of the gateway. */
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 32);
/** For the gateways' processes, e.g. `--cpu-prof`. */
const NODE_FLAGS = process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];
const PROBE_EVERY_MS = 100;

export interface Variant {
  readonly store: 'sqlite' | 'postgres';
  readonly gateways: number;
  /** What is posted: a message in a space with one agent, or an event for the agent, which no space shows. */
  readonly posts: 'messages' | 'events';
  /** Behind a pooler in transaction mode. */
  readonly isPooled?: boolean;
}

const VARIANTS: readonly Variant[] = [
  { store: 'sqlite', gateways: 1, posts: 'messages' },
  { store: 'postgres', gateways: 1, posts: 'messages' },
  { store: 'postgres', gateways: 2, posts: 'messages' },
  { store: 'sqlite', gateways: 1, posts: 'events' },
  { store: 'postgres', gateways: 1, posts: 'events' },
  { store: 'postgres', gateways: 2, posts: 'events' },
];

export interface Handled extends Variant {
  /** Messages per second, from the first request until the last run ended. */
  readonly perSecond: number;
  /** Messages per second, from the first request until the last one was answered. */
  readonly postedPerSecond: number;
  /** Processor time per message, of all gateways together. */
  readonly gatewayMs: number;
  /** Processor time per message. The embedded store's is part of the gateway's. */
  readonly databaseMs: number | undefined;
  /** Processor time per message of everything else that the benchmark needs: the client, the pooler. */
  readonly otherMs: number;
  /** Time for all messages, including those that wake an idle agent, until the gateways had ended everything. */
  readonly elapsedMs: number;
  /** How many processors other programs of the machine used meanwhile. */
  readonly foreignProcessors: number;
  /** From a message to an idle agent until others see it awake. */
  readonly wakeMs: readonly number[];
}

/** What users do: they post from outside while the agents work. */
export async function benchGatewayPostedMessages(): Promise<Report> {
  const databases = openDatabases();
  try {
    const handled: Handled[] = [];
    for (const variant of chosen()) handled.push(await handle(variant, databases));
    return toReport(handled);
  } finally {
    await databases.close();
  }
}

function chosen(): readonly Variant[] {
  const { BENCH_STORE, BENCH_GATEWAYS, BENCH_POSTS } = process.env;
  const isWanted = (wanted: string | undefined, is: string): boolean => wanted === undefined || wanted === is;
  return VARIANTS.filter(
    ({ store, gateways, posts }) =>
      isWanted(BENCH_STORE, store) && isWanted(BENCH_GATEWAYS, String(gateways)) && isWanted(BENCH_POSTS, posts),
  );
}

export async function handle(
  variant: Variant,
  databases: BenchDatabases,
  onHandled: (database: BenchDatabase) => Promise<void> = async () => {},
): Promise<Handled> {
  const database = await databases[variant.isPooled === true ? 'pooledPostgres' : variant.store]();
  const furnished = await furnish(database, variant);
  const spec = { settings: database.settings, tool: { terminal: true, visible: false } };
  const gateways = await Promise.all(
    Array.from({ length: variant.gateways }, () => startGateway(spec, { nodeFlags: NODE_FLAGS })),
  );
  try {
    return await countingStatements(database, AGENTS * MESSAGES_EACH, () =>
      measure(variant, { database, furnished, gateways, onHandled }),
    );
  } catch (error) {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    throw error;
  }
}

interface Setting {
  readonly database: BenchDatabase;
  readonly furnished: Furnished;
  readonly gateways: readonly BenchGateway[];
  /** Called while the gateways still run. */
  onHandled(database: BenchDatabase): Promise<void>;
}

async function measure(variant: Variant, { database, furnished, gateways, onHandled }: Setting): Promise<Handled> {
  const before = { gateways: await sumOf(gateways, (one) => one.processorMs()), database: databaseMs(variant) };
  const [own, all, startedAt] = [processorMsOf(process.pid), busyMs(), performance.now()];
  const posting = postFromOutside({ posts: postsOf(furnished, gateways), connections: CONNECTIONS });
  const [posted, wakeMs] = await Promise.all([posting, observe(gateways, furnished.idle.room)]);
  const elapsedMs = performance.now() - startedAt;
  const ownMs = processorMsOf(process.pid) - own;
  const foreignMs = busyMs() - all - ownMs;
  await onHandled(database);
  // Work that a run leaves counts too: the time is read when the gateways have finished it.
  const gatewayMs = (await sumOf(gateways, (one) => one.stop())) - before.gateways;
  const storeMs = databaseMs(variant) - before.database;
  const messages = AGENTS * MESSAGES_EACH + wakeMs.length;
  return {
    ...variant,
    ...(await ratesOf(database, furnished.idle.id, posted)),
    gatewayMs: gatewayMs / messages,
    databaseMs: variant.store === 'postgres' ? storeMs / messages : undefined,
    otherMs: Math.max(0, ownMs - gatewayMs - storeMs) / messages,
    elapsedMs,
    foreignProcessors: Math.max(0, foreignMs / elapsedMs),
    wakeMs,
  };
}

function databaseMs({ store }: Variant): number {
  return store === 'postgres' ? processorMsOf(postgresPid()) : 0;
}

async function sumOf(
  gateways: readonly BenchGateway[],
  figure: (gateway: BenchGateway) => Promise<number>,
): Promise<number> {
  return (await Promise.all(gateways.map(figure))).reduce((sum, each) => sum + each, 0);
}

interface Furnished {
  readonly agents: readonly string[];
  /** By agent. */
  readonly rooms: ReadonlyMap<string, Room>;
  readonly idle: { readonly id: string; readonly room: Room };
}

async function furnish(database: BenchDatabase, { posts }: Variant): Promise<Furnished> {
  const filling = await database.open();
  const config = { model: 'instant', tools: [task.toolName] };
  const agents = await filling.agents(AGENTS, config);
  const rooms = posts === 'messages' ? await roomsOf(filling, agents) : new Map<string, Room>();
  const [id = ''] = await filling.agents(1, config);
  const room = await filling.room(id);
  await filling.close();
  return { agents, rooms, idle: { id, room } };
}

async function roomsOf(filling: Filling, agents: readonly string[]): Promise<ReadonlyMap<string, Room>> {
  const rooms = new Map<string, Room>();
  for (const agent of agents) rooms.set(agent, await filling.room(agent));
  return rooms;
}

/** A message to every agent, then the next to every agent. */
function postsOf({ agents, rooms }: Furnished, gateways: readonly BenchGateway[]): readonly Post[] {
  const rounds = Array.from({ length: MESSAGES_EACH }, (_, round) => round);
  return rounds.flatMap((round) =>
    agents.map((agent, index) => {
      const { url, secretKey } = gateways[index % gateways.length] as BenchGateway;
      const { path, body } = requestOf(agent, rooms.get(agent), round);
      return { url: `${url}${path}`, headers: { authorization: `Bearer ${secretKey}` }, body };
    }),
  );
}

function requestOf(agent: string, room: Room | undefined, round: number): { path: string; body: object } {
  return room === undefined
    ? { path: `/api/agents/${agent}/events`, body: { source: 'bench', name: 'tick', data: round } }
    : { path: `/api/spaces/${room.spaceId}/messages`, body: { text: `Message ${round}`, entityId: room.personId } };
}

/** Watches until everything is handled, and wakes an idle agent now and then. Returns how long each wake took. */
async function observe(gateways: readonly BenchGateway[], room: Room): Promise<readonly number[]> {
  const [first] = gateways as [BenchGateway];
  const watcher = await watch(first, room.spaceId);
  const wakeMs: number[] = [];
  for (let ran = 0; ran < AGENTS * MESSAGES_EACH + wakeMs.length; ran += await ranOn(gateways)) {
    wakeMs.push(await wakeTime(first, room, watcher));
    await sleep(PROBE_EVERY_MS);
  }
  watcher.close();
  if (process.env.BENCH_WAKES === '1') console.log('wakes, ms:', wakeMs.map(Math.round).join(' '));
  return wakeMs;
}

/** Rates of the messages to all agents except the one that was woken now and then. */
async function ratesOf(
  database: BenchDatabase,
  idle: string,
  { startedAt, endedAt }: Posted,
): Promise<Pick<Handled, 'perSecond' | 'postedPerSecond'>> {
  const filling = await database.open();
  const { count, to } = await filling.store.db
    .selectFrom('runs')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('ended_at').as('to')])
    .where('status', '=', 'completed')
    .where('thread_id', '!=', idle)
    .executeTakeFirstOrThrow();
  const messages = AGENTS * MESSAGES_EACH;
  if (count !== messages)
    throw new Error(`${count} runs were completed, not ${messages}. ${await statusesOf(filling)}`);
  await filling.close();
  return {
    perSecond: (messages * 1_000) / ((to ?? Number.NaN) - startedAt),
    postedPerSecond: (messages * 1_000) / (endedAt - startedAt),
  };
}

/** For an error: how many runs ended in which way, how many of them were taken over, and how the calls ended. */
async function statusesOf({ store }: Filling): Promise<string> {
  const runs = await store.db
    .selectFrom('runs')
    .select(({ fn }) => ['status', 'stop', 'attempt', fn.count<number>('takeovers').as('takenOver')])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy(['status', 'stop', 'attempt'])
    .execute();
  const calls = await store.db
    .selectFrom('calls')
    .select(({ fn }) => ['status', 'outcome_status', fn.countAll<number>().as('count')])
    .groupBy(['status', 'outcome_status'])
    .execute();
  return JSON.stringify({ runs, calls });
}

function toReport(all: readonly Handled[]): Report {
  return {
    title: 'Messages posted from outside',
    claim:
      `${AGENTS.toLocaleString('en')} sleeping agents, ${MESSAGES_EACH} messages each, posted by a client in another process on ` +
      `${CONNECTIONS} kept connections while the agents work; a model that answers at once; each message causes a run with one ` +
      'call of a terminal tool, durable before and after. Handled from the first request until the last run ended; processor ' +
      'time per message, posting included. Meanwhile a message is sent now and then to an idle agent, and the time until another ' +
      `client sees \`agent.active\` is its wake. Gateways, database and clients share one machine of ${availableParallelism()} processors.`,
    columns: [
      'store',
      'gateways',
      'posted',
      'handled per second',
      'posted per second',
      'gateway CPU, ms',
      'database CPU, ms',
      'wakes',
      'wake p50, ms',
      'wake p95, ms',
    ],
    rows: all.map((one) => [
      one.store,
      one.gateways,
      one.posts,
      one.perSecond,
      one.postedPerSecond,
      one.gatewayMs,
      one.databaseMs ?? '–',
      one.wakeMs.length,
      percentile(one.wakeMs, 0.5),
      percentile(one.wakeMs, 0.95),
    ]),
    findings: findingsOf(all),
  };
}

function findingsOf(all: readonly Handled[]): readonly Held[] {
  const find = (store: Variant['store'], gateways: number): Handled | undefined =>
    all.find((one) => one.store === store && one.gateways === gateways && one.posts === 'messages');
  const [sqlite, one, two] = [find('sqlite', 1), find('postgres', 1), find('postgres', 2)];
  const wake = ({ wakeMs }: Handled): number => percentile(wakeMs, 0.95);
  return [
    ...(sqlite ? [heldAtMost('An idle agent wakes on SQLite, p95', wake(sqlite), 50, ' ms')] : []),
    ...(one ? [heldAtMost('An idle agent wakes on PostgreSQL, p95', wake(one), 50, ' ms')] : []),
    ...(one ? [heldAtMost('A message costs the gateway on PostgreSQL', one.gatewayMs, 1.5, ' ms of CPU')] : []),
    ...(one ? [heldAtMost('A message costs PostgreSQL', one.databaseMs ?? Number.NaN, 1.3, ' ms of CPU')] : []),
    ...(one && two ? [heldAtLeast('Two gateways / one', two.perSecond / one.perSecond, 1.4)] : []),
  ];
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayPostedMessages()));
