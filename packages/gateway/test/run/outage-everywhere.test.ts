import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { KyselyPlugin } from 'kysely';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { embedded } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

/** How an operation of the store fails. */
type Failure = 'before' | 'in doubt';

/** Short, because a claim whose commit was not confirmed waits until its lease expires. */
const LEASE_MS = 600;

interface FailingStore {
  readonly store: Store;
  /** The same store, which does not fail. */
  readonly raw: Store;
  arm(at: number, how: Failure): void;
  /** Operations since it was armed. */
  readonly count: number;
}

/** A store that fails the operation of this number, and the two after it, counted from when it was armed. */
function failing(raw: Store): FailingStore {
  let [at, count, how]: [number, number, Failure] = [0, 0, 'before'];
  const isAway = (): boolean => {
    count++;
    return at > 0 && count >= at && count < at + 3;
  };
  const away = (options?: { inDoubt: boolean }): StoreUnavailable => new StoreUnavailable(new Error('away'), options);
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isAway()) throw away();
      return result;
    },
  };
  return {
    raw,
    store: {
      ...raw,
      db: raw.db.withPlugin(plugin),
      async transaction(work, options) {
        if (!isAway()) return await raw.transaction(work, options);
        if (how === 'in doubt') await raw.transaction(work, options);
        throw away({ inDoubt: how === 'in doubt' });
      },
    },
    arm(nextAt, nextHow) {
      [at, count, how] = [nextAt, 0, nextHow];
    },
    get count() {
      return count;
    },
  };
}

describe.each(embedded)('a store that goes away at any point of a run, on $kind,', ({ create }) => {
  const database = forAllTests(create);

  test.each<Failure>(['before', 'in doubt'])(
    '[G58] (%s the commit) makes nothing fail and nothing happen twice',
    async (how) => {
      const paid: string[] = [];
      const pay = tool({
        description: 'Pays.',
        inputSchema: z.object({ ref: z.string() }),
        idempotent: true,
        execute: ({ ref }, { idempotencyKey }) => {
          paid.push(`${ref} ${idempotencyKey}`);
          return `paid ${ref}`;
        },
      });
      let ref = '';
      let isMoved = false;
      const told: string[] = [];
      const model = scriptedModel((request) => {
        const results = resultsOf(request).filter(({ text }) => text.includes(ref));
        told.push(...resultsOf(request).map(({ text }) => text));
        const move = { toolName: 'enter_space', input: { spaceId: space } };
        if (results.some(({ toolName }) => toolName === 'set_memories')) return 'Done.';
        if (results.length > 0)
          return [
            { toolName: 'send_message', input: { text: ref } },
            { toolName: 'set_memories', input: { memories: [{ key: ref, value: ref }] } },
          ];
        isMoved = !isMoved;
        return [...(isMoved ? [move] : []), { toolName: 'pay', input: { ref } }];
      });
      const opened = Promise.withResolvers<FailingStore>();
      const world = await openWorld({
        database: {
          ...database,
          async open(parts) {
            opened.resolve(failing(await database.open(parts)));
            return (await opened.promise).store;
          },
        },
        models: { default: model },
        tools: { pay: { tool: pay, visible: true } },
        limits: { leaseMs: LEASE_MS },
      });
      const failure = await opened.promise;
      const { ada, space } = await lobby(world, { tools: ['pay'] }, { isIn: true });
      await world.start();
      const refs: string[] = [];
      // Repeats until the failure comes after the end of the run.
      for (let at = 1, count = Number.POSITIVE_INFINITY; at < count; at++) {
        ref = `r${how.length}_${at}`;
        refs.push(ref);
        await world.say(space, ada, `Pay ${ref}`);
        failure.arm(at, how);
        await untilDone(failure.raw, ref);
        count = Math.min(count, failure.count);
        failure.arm(0, how);
        await world.idle();
      }
      const runs = await world.store.db.selectFrom('runs').select(['status', 'stop']).execute();
      const messages = await world.store.db
        .selectFrom('messages')
        .select('content')
        .where('kind', '=', 'text')
        .orderBy('seq')
        .execute();
      const cards = await world.store.db.selectFrom('messages').select('status').where('kind', '=', 'tool').execute();
      await world.stop();
      const said = messages.map(({ content }) => JSON.parse(content) as string).filter((text) => refs.includes(text));
      expect(said).toEqual(refs);
      expect(runs.filter(({ status }) => status !== 'completed')).toEqual([]);
      expect(cards.filter(({ status }) => status !== 'complete')).toEqual([]);
      expect(told.filter((text) => /fail|does not answer|not found/i.test(text))).toEqual([]);
      // A repetition after a doubt has the same key.
      expect(new Set(paid).size).toBe(refs.length);
      if (how === 'before') expect(paid).toHaveLength(refs.length);
    },
  );
});

/** The agent has sent the message, and has nothing more to do. */
async function untilDone({ db }: Store, text: string): Promise<void> {
  for (;;) {
    const said = db.selectFrom('messages').select('id').where('content', '=', JSON.stringify(text));
    const open = db.selectFrom('inbox_events').select('id').where('status', 'in', ['pending', 'claimed']);
    if ((await said.execute()).length > 0 && (await open.execute()).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
