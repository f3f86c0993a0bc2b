import { heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { post, type Watcher, watch } from './client.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';
import type { Room } from './filling.ts';
import { percentile } from './percentiles.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';

const SAMPLES = 300;
const WARM_UP = 100;
/** Each has a separate agent, so that no agent's transcript grows long. */
const ROOMS = 40;

/** How long it takes until others see that an agent acts on a message. */
export async function benchGatewayFirstSign(): Promise<Report> {
  const databases = openDatabases();
  try {
    const sqlite = await timesOn(await databases.sqlite());
    const postgres = await timesOn(await databases.postgres());
    const row = (name: string, times: readonly number[]): (string | number)[] => [
      name,
      times.length,
      percentile(times, 0.5),
      percentile(times, 0.95),
    ];
    return {
      title: 'From a message to the first sign of the agent',
      claim:
        'A person posts a message; another client sees the first byte of `tool-call.start` on its stream. Real HTTP, a model ' +
        'that answers at once, one gateway in a separate process, both clients in another; one message at a time.',
      columns: ['', 'samples', 'p50, ms', 'p95, ms'],
      rows: [row('SQLite, synchronous = FULL', sqlite), row('PostgreSQL', postgres)],
      findings: [
        heldAtMost('SQLite, p50', percentile(sqlite, 0.5), 5, ' ms'),
        heldAtMost('PostgreSQL, p50', percentile(postgres, 0.5), 20, ' ms'),
      ],
    };
  } finally {
    await databases.close();
  }
}

async function timesOn(database: BenchDatabase): Promise<readonly number[]> {
  const rooms = await furnish(database);
  const gateway = await startGateway({ settings: database.settings, tool: { terminal: true, visible: true } });
  const watched: { room: Room; watcher: Watcher }[] = [];
  for (const room of rooms) watched.push({ room, watcher: await watch(gateway, room.spaceId) });
  try {
    const times: number[] = [];
    for (let count = 0; count < WARM_UP + SAMPLES; count++) {
      const { room, watcher } = watched[count % watched.length] as { room: Room; watcher: Watcher };
      times.push(await timeOf(gateway, room, watcher));
    }
    return times.slice(WARM_UP);
  } finally {
    for (const { watcher } of watched) watcher.close();
    await gateway.stop();
  }
}

async function furnish(database: BenchDatabase): Promise<readonly Room[]> {
  const filling = await database.open();
  const rooms: Room[] = [];
  for (const id of await filling.agents(ROOMS, { model: 'instant', tools: [task.toolName] }))
    rooms.push(await filling.room(id));
  await filling.close();
  return rooms;
}

/** The next message is posted when the agent is idle, so that work left by one run does not slow down the next. */
async function timeOf(gateway: BenchGateway, room: Room, watcher: Watcher): Promise<number> {
  const rested = watcher.next('agent.inactive');
  const seen = watcher.next('tool-call.start');
  const postedAt = performance.now();
  const status = await Promise.all([post(gateway, room, 'What is one and two?'), seen, rested]);
  if (status[0] !== 201) throw new Error(`The message was refused: ${status[0]}.`);
  return status[1] - postedAt;
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayFirstSign()));
