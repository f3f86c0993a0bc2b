import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../../src/gateway.ts';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { openWay } from '../processes/severable-database.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { lobby } from '../support/lobby.ts';
import { systemOf } from '../support/requests.ts';
import { type Database, databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

const never = (): Promise<never> => new Promise(() => {});

describe.each(databases)('a worker that stops on $kind', ({ create }) => {
  let database: Database;
  beforeAll(async () => {
    database = await create();
  });
  afterAll(() => database.remove());

  test('[G42] a worker that stops does not wait for a summary that never arrives: it is made by rule', async () => {
    const asked = Promise.withResolvers<void>();
    const model = scriptedModel(async (request) => {
      if (!systemOf(request).startsWith('You keep the memory')) return `Noted: ${'x'.repeat(3_000)}`;
      asked.resolve();
      return await never();
    });
    const world = await openWorld({ database, models: { default: model }, limits: { graceMs: 50 } });
    await world.start();
    const { ada, bot, space } = await lobby(world, { limits: { consciousnessTokens: 1_000 } });
    await world.say(space, ada, 'one');
    await world.idle();
    await world.say(space, ada, 'two');
    await asked.promise;
    await world.worker.stop();
    const thread = world.store.db.selectFrom('threads').select('lease_owner').where('id', '=', bot);
    expect(await thread.executeTakeFirstOrThrow()).toEqual({ lease_owner: null });
    await world.stop();
  });
});

describe.each(overlapping)('a worker that stops on $kind', ({ create }) => {
  let database: Database;
  beforeAll(async () => {
    database = await create();
  });
  afterAll(() => database.remove());

  test('[G42] a worker that stops while it claims the next events, for longer than the grace time, does not run them', async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const model = scriptedModel(async (_request, invocation) => {
      if (invocation > 1) return await never();
      second.resolve();
      await first.promise;
      return 'Done.';
    });
    const world = await openWorld({ database, models: { default: model }, limits: { graceMs: 50 } });
    await world.start();
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'one');
    await second.promise;
    await world.say(space, ada, 'two');
    // The end of the first run needs no row of the second event, but claiming it does.
    const waiting = `select id from inbox_events where thread_id = $1 and status = 'pending' for update`;
    const lock = await holdLock(database, waiting, [bot]);
    first.resolve();
    await lock.waitedFor();
    const stopping = world.worker.stop();
    // The grace time is over, and the events are still not claimed.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await lock.release();
    await stopping;
    const thread = world.store.db.selectFrom('threads').select('lease_owner').where('id', '=', bot);
    expect(await thread.executeTakeFirstOrThrow()).toEqual({ lease_owner: null });
    await world.stop();
  });

  test('[G42] a worker that stops while a write of its run takes long releases the thread once that has ended', async () => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const model = scriptedModel(async () => {
      asked.resolve();
      await gate.promise;
      return { toolName: 'pay' };
    });
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => 'Paid.' });
    const tools = { pay: { tool: pay, visible: false } };
    const world = await openWorld({ database, models: { default: model }, tools, limits: { graceMs: 50 } });
    await world.start();
    const { ada, bot, space } = await lobby(world, { tools: ['pay'] });
    await world.say(space, ada, 'one');
    await asked.promise;
    const lock = await holdLock(database, 'select id from threads where id = $1 for update', [bot]);
    gate.resolve();
    await lock.waitedFor();
    const stopping = world.worker.stop();
    // Longer than a turn that was aborted waits for its journal.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await lock.release();
    await stopping;
    const thread = world.store.db.selectFrom('threads').select('lease_owner').where('id', '=', bot);
    expect(await thread.executeTakeFirstOrThrow()).toEqual({ lease_owner: null });
    await world.stop();
  });
});

describe('a database that neither answers nor breaks off', () => {
  test('[G42] a database that neither answers nor breaks off does not keep a worker from stopping', async () => {
    await using way = await openWay();
    const database: Database = {
      kind: 'postgres',
      location: way.url,
      open: (parts) => openPostgresStore({ url: way.url }, parts),
      remove: async () => {},
    };
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const model = scriptedModel(async () => {
      asked.resolve();
      await gate.promise;
      return 'Done.';
    });
    const world = await openWorld({ database, models: { default: model }, limits: { graceMs: 50 } });
    await world.start();
    const { ada, space } = await lobby(world);
    await world.say(space, ada, 'one');
    await asked.promise;
    const frozen = way.proxy.freeze();
    gate.resolve();
    await frozen;
    await world.worker.stop();
    way.proxy.cut();
    await world.store.close();
  });

  test('[G42] a database that neither answers nor breaks off does not keep a gateway from stopping', async () => {
    await using way = await openWay();
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const env = { DATABASE_URL: way.url, PORT: '0' };
    const gateway = createGateway({ env, logger: silent, tuning: { graceMs: 50 } });
    await gateway.start();
    const frozen = way.proxy.freeze();
    const { url } = gateway;
    fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${gateway.firstKey}` } }).catch(() => {});
    await frozen;
    // At this time the request waits for its answer.
    await new Promise((resolve) => setTimeout(resolve, 800));
    await gateway.stop();
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});
