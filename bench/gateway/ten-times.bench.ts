import { setTimeout as sleep } from 'node:timers/promises';
import { heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { type BenchDatabase, type BenchDatabases, openDatabases } from './databases.ts';
import type { Room } from './filling.ts';
import { postFromOutside } from './post-from-outside.ts';
import type { Post } from './poster-child.ts';
import { ranOn } from './ran-on.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';

/** `BENCH_SCALE=0.1` runs a tenth of everything, for a quick check. */
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const CONFIG = { model: 'instant', tools: [task.toolName] };
const NODE_FLAGS = process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];

/** Processor time per message in milliseconds, with few rows and with ten times as many. */
interface Compared {
  readonly what: string;
  readonly few: number;
  readonly many: number;
}

/** Whether a message costs more where there is ten times as much of everything. On SQLite, where one process does all the work. */
export async function benchGatewayTenTimes(): Promise<Report> {
  const databases = openDatabases();
  try {
    const wanted = process.env.BENCH_TEN_TIMES;
    const all = { agents: compareAgents, members: compareMembers, history: compareTranscript };
    const compared: Compared[] = [];
    for (const [name, compare] of Object.entries(all))
      if (wanted === undefined || wanted === name) compared.push(await compare(databases));
    return toReport(compared);
  } finally {
    await databases.close();
  }
}

const scaled = (count: number): number => Math.max(1, Math.round(count * SCALE));

/** Agents that have an event each, all at once. */
async function compareAgents(databases: BenchDatabases): Promise<Compared> {
  const [few, many] = [scaled(1_000), scaled(10_000)];
  const measure = async (agents: number): Promise<number> => {
    const database = await databases.sqlite();
    const filling = await database.open();
    await filling.work(await filling.agents(agents, CONFIG), 2);
    await filling.close();
    return await onGateway(database, (gateway) => costOf(gateway, 2 * agents, async () => {}));
  };
  return { what: `${few} / ${many} agents with work at once`, few: await measure(few), many: await measure(many) };
}

/** Messages in spaces of one agent and so many people. */
async function compareMembers(databases: BenchDatabases): Promise<Compared> {
  const [few, many] = [scaled(20), scaled(200)];
  const measure = async (people: number): Promise<number> => {
    const database = await databases.sqlite();
    const rooms = await furnish(database, { agents: scaled(100), people });
    return await onGateway(database, async (gateway) => {
      await costOf(gateway, 5 * rooms.length, (post) => post(rooms, 5));
      return await costOf(gateway, 20 * rooms.length, (post) => post(rooms, 20));
    });
  };
  return { what: `${few} / ${many} people in the space`, few: await measure(few), many: await measure(many) };
}

/** Messages to agents with few and with many runs in their transcript. The gateway is warmed up before both measurements. */
async function compareTranscript(databases: BenchDatabases): Promise<Compared> {
  const [few, many, last] = [scaled(40), scaled(400), scaled(20)];
  const database = await databases.sqlite();
  const [old, young] = [
    await furnish(database, { agents: 10, people: 1 }),
    await furnish(database, { agents: 10, people: 1 }),
  ];
  return await onGateway(database, async (gateway) => {
    const rounds = (rooms: readonly Room[], count: number): Promise<number> =>
      costOf(gateway, count * rooms.length, (post) => post(rooms, count));
    await rounds(old, many - last);
    await rounds(young, few - last);
    return { what: `after ${few} / ${many} runs`, few: await rounds(young, last), many: await rounds(old, last) };
  });
}

async function furnish(database: BenchDatabase, { agents, people }: { agents: number; people: number }) {
  const filling = await database.open();
  const rooms: Room[] = [];
  for (const agent of await filling.agents(agents, CONFIG)) rooms.push(await filling.room(agent, people));
  await filling.close();
  return rooms;
}

async function onGateway<T>(database: BenchDatabase, work: (gateway: BenchGateway) => Promise<T>): Promise<T> {
  const spec = { settings: database.settings, tool: { terminal: true, visible: false } };
  const gateway = await startGateway(spec, { nodeFlags: NODE_FLAGS });
  try {
    return await work(gateway);
  } finally {
    await gateway.stop();
  }
}

type PostTo = (rooms: readonly Room[], each: number) => Promise<void>;

/** Processor time per message, from before the messages are posted until all runs have ended. */
async function costOf(gateway: BenchGateway, messages: number, send: (post: PostTo) => Promise<void>): Promise<number> {
  const before = await gateway.processorMs();
  await send(async (rooms, each) => {
    await postFromOutside({ posts: postsOf(gateway, rooms, each), connections: 8 });
  });
  for (let ran = await ranOn([gateway]); ran < messages; ran += await ranOn([gateway])) await sleep(50);
  return ((await gateway.processorMs()) - before) / messages;
}

function postsOf({ url, secretKey }: BenchGateway, rooms: readonly Room[], each: number): readonly Post[] {
  return Array.from({ length: each }, (_, round) =>
    rooms.map(({ spaceId, personId }) => ({
      url: `${url}/api/spaces/${spaceId}/messages`,
      headers: { authorization: `Bearer ${secretKey}` },
      body: { text: `Message ${round}`, entityId: personId },
    })),
  ).flat();
}

function toReport(compared: readonly Compared[]): Report {
  return {
    title: 'Ten times as much',
    claim:
      'Processor time of the gateway per message, on SQLite, so that the store is in it: a model that answers at once, a run with ' +
      'one call of a terminal tool for each message. Claim: ten times as much costs at most 1.2 times per message.',
    columns: ['', 'CPU, ms', 'ten times as much: CPU, ms', 'ratio'],
    rows: compared.map(({ what, few, many }) => [what, few, many, many / few]),
    findings: compared.map(({ what, few, many }) => heldAtMost(what, many / few, 1.2)),
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayTenTimes()));
