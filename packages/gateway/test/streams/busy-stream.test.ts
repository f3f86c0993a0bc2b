import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';
import { readStream, type StreamReader } from '../../src/domain/streams/read-stream.ts';
import type { Bus } from '../../src/ports/bus/bus.ts';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { DEFAULT_PARTS } from '../../src/ports/store/store-parts.ts';
import { type Database, onPostgres } from '../support/stores.ts';

/** The separate parts of one of two gateways. */
interface Gateway {
  readonly store: Store;
  readonly bus: Bus;
}

const READERS = 120;
const WRITERS = 4;
const TIMES = 40;
const EVENTS = WRITERS * TIMES * 2;
const limits = DEFAULT_GATEWAY_LIMITS;
const logger = { debug() {}, info() {}, warn() {}, error() {} };

let database: Database;
let gateways: readonly Gateway[];
beforeAll(async () => {
  database = await onPostgres.create();
  gateways = await Promise.all(
    [1, 2].map(async () => {
      const bus = createPostgresBus({ url: database.location });
      await bus.start();
      return { store: await database.open({ ...DEFAULT_PARTS, bus }), bus };
    }),
  );
});
afterAll(async () => {
  for (const { store, bus } of gateways) {
    await bus.stop();
    await store.close();
  }
  await database.remove();
});

test('[G45] 120 readers of a busy stream, on two gateways that share a database, each get every event once, in order, and no reset', async () => {
  const stream = 'test:busy';
  const readers = await Promise.all(
    Array.from({ length: READERS }, (_, index) => readStream({ ...gatewayOf(index), limits, logger }, { stream })),
  );
  const followed = readers.map(follow);
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(gatewayOf(index), stream)));
  const all = Array.from({ length: EVENTS }, (_, index) => index + 1);
  for (const items of await Promise.all(followed)) expect(items).toEqual(all);
});

function gatewayOf(index: number): Gateway {
  return gateways[index % gateways.length] as Gateway;
}

async function write({ store }: Gateway, stream: string): Promise<void> {
  for (let time = 0; time < TIMES; time++)
    await store.transaction(async (tx) => {
      for (const text of ['a', 'b']) tx.emit({ stream, type: 'said', payload: { text } });
    });
}

/** Reads until the last event has arrived, and meanwhile checks the table as heartbeats do. */
async function follow(reader: StreamReader): Promise<(number | 'reset')[]> {
  const items: (number | 'reset')[] = [];
  const looking = look(reader);
  while (items.at(-1) !== EVENTS) {
    const item = await reader.next();
    if (item === undefined) break;
    items.push(item.kind === 'reset' ? 'reset' : item.event.seq);
    if (item.kind === 'reset' && item.seq === EVENTS) break;
  }
  reader.close();
  await looking;
  return items;
}

async function look(reader: StreamReader): Promise<void> {
  while (reader.position < EVENTS) {
    await reader.look();
    await sleep(5);
  }
}
