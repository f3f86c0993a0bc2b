import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { getRun, type Run } from '../../src/domain/runs/run.ts';
import { runStream } from '../../src/domain/streams/stream-names.ts';
import { until } from '../processes/until.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import { withoutNotices } from '../support/unheard.ts';
import { openWorld, type World } from '../support/world.ts';

/** A cancel without a notice to the worker, which finds it in the run's row or not at all. */
async function cancelUnheard(world: World, runId: string): Promise<Run> {
  return await withoutNotices(world, () => world.in((tx) => requestCancel(tx, runId)));
}

async function runOf({ store }: World, bot: string): Promise<string> {
  const run = store.db.selectFrom('runs').select('id').where('thread_id', '=', bot);
  return (await run.executeTakeFirstOrThrow()).id;
}

async function endsOf(world: World, runId: string): Promise<unknown> {
  return (await world.events(runStream(runId))).filter(({ type }) => type === 'run.end').map(({ payload }) => payload);
}

describeWorlds(
  'a cancel that was accepted',
  (open) => {
    /** The model does this when it is asked for the second time. */
    async function cancelled(answer: () => string | Error) {
      const before = Promise.withResolvers<void>();
      const model = scriptedModel(async (_request, invocation) => {
        if (invocation === 1) return [{ toolName: 'look_around' }];
        before.resolve();
        await accepted.promise;
        return answer();
      });
      const accepted = Promise.withResolvers<void>();
      const look_around = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });
      const world = await open({ models: { default: model }, tools: { look_around } });
      const { ada, bot, space } = await lobby(world, { tools: ['look_around'] }, { isIn: true });
      await world.say(space, ada, 'go');
      await before.promise;
      const runId = await runOf(world, bot);
      const answered = await cancelUnheard(world, runId);
      accepted.resolve();
      await world.idle();
      return { world, runId, answered, bot };
    }

    test('[G16] a cancel that was accepted ends the run as cancelled, although the worker was about to write that it is completed', async () => {
      const { world, runId, answered, bot } = await cancelled(() => 'Done.');
      expect(answered).toMatchObject({ status: 'running', cancelRequestedAt: expect.any(Number) });
      expect(await getRun(world.store.db, runId)).toMatchObject({ status: 'cancelled', stop: { reason: 'aborted' } });
      expect(await endsOf(world, runId)).toEqual([{ runId, status: 'cancelled', stop: { reason: 'aborted' } }]);
      const entries = world.store.db.selectFrom('transcript_entries').select('payload').where('kind', '=', 'stop');
      expect(await entries.where('run_id', '=', runId).execute()).toEqual([
        { payload: expect.stringContaining('"reason":"aborted"') },
      ]);
      // The real effects of a call are written nevertheless.
      const calls = world.store.db.selectFrom('calls').select('outcome').where('run_id', '=', runId);
      expect(JSON.parse((await calls.executeTakeFirstOrThrow()).outcome ?? '{}')).toMatchObject({ status: 'ok' });
      const events = world.store.db.selectFrom('inbox_events').select('status').where('thread_id', '=', bot);
      expect(await events.execute()).toEqual([{ status: 'done' }]);
    });

    test('[G16] a cancel that was accepted ends the run as cancelled, although the model failed meanwhile, and nothing is retried', async () => {
      const { world, runId, bot } = await cancelled(() => new Error('too busy'));
      expect(await getRun(world.store.db, runId)).toMatchObject({ status: 'cancelled', stop: { reason: 'aborted' } });
      expect(await endsOf(world, runId)).toEqual([{ runId, status: 'cancelled', stop: { reason: 'aborted' } }]);
      const runs = world.store.db.selectFrom('runs').select('id').where('thread_id', '=', bot);
      expect(await runs.execute()).toEqual([{ id: runId }]);
    });

    test('[G16] after an accepted cancel no later message is posted', async () => {
      const world: World = await open({
        models: {
          default: scriptedModel([
            [{ toolName: 'stop_me' }, { toolName: 'send_message', input: { text: 'too late' } }],
            'Done.',
          ]),
        },
        tools: {
          stop_me: tool({
            description: 'Has the run cancelled.',
            inputSchema: z.object({}),
            execute: async () => void (await cancelUnheard(world, await runOf(world, bot))),
          }),
        },
      });
      const { ada, bot, space } = await lobby(world, { tools: ['stop_me'] }, { isIn: true });
      await world.say(space, ada, 'go');
      await world.idle();
      const runId = await runOf(world, bot);
      expect(await getRun(world.store.db, runId)).toMatchObject({ status: 'cancelled' });
      const said = world.store.db.selectFrom('messages').select('content').where('space_id', '=', space);
      expect(await said.where('kind', '=', 'text').execute()).toEqual([{ content: '"go"' }]);
      const calls = world.store.db.selectFrom('calls').select(['tool_name', 'status']).where('run_id', '=', runId);
      expect(await calls.orderBy('index').execute()).toEqual([
        { tool_name: 'stop_me', status: 'settled' },
        { tool_name: 'send_message', status: 'settled' },
      ]);
    });

    test('[G16] after an accepted cancel no later call runs, although its worker was not told', async () => {
      const paid: string[] = [];
      const model = scriptedModel(() => [{ toolName: 'stop_me' }, { toolName: 'pay' }]);
      const world: World = await open({
        models: { default: model },
        tools: {
          stop_me: tool({
            description: 'Has the run cancelled.',
            inputSchema: z.object({}),
            execute: async () => void (await cancelUnheard(world, await runOf(world, bot))),
          }),
          pay: tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => void paid.push('paid') }),
        },
      });
      const { ada, bot, space } = await lobby(world, { tools: ['stop_me', 'pay'] }, { isIn: true });
      await world.say(space, ada, 'go');
      await world.idle();
      const runId = await runOf(world, bot);
      expect(await getRun(world.store.db, runId)).toMatchObject({ status: 'cancelled', stop: { reason: 'aborted' } });
      const calls = world.store.db.selectFrom('calls').select(['tool_name', 'outcome']).where('run_id', '=', runId);
      const outcomes = (await calls.orderBy('index').execute()).map(({ outcome }) => JSON.parse(outcome ?? '{}'));
      expect(outcomes).toMatchObject([{ status: 'ok' }, { status: 'error', code: 'aborted', effect: 'none' }]);
      expect(paid).toEqual([]);
      expect(model.requests).toHaveLength(1);
    });
  },
  databases,
);

test('[G16] of a cancel and an end of the run at the same moment in PostgreSQL the one that locks the row first counts', async () => {
  const database = await databases.find(({ kind }) => kind === 'postgres')?.create();
  if (database === undefined) throw new Error('There is no PostgreSQL.');
  const client = new Client({ connectionString: database.location });
  await client.connect();
  const asked = Promise.withResolvers<void>();
  const marked = Promise.withResolvers<void>();
  const model = scriptedModel(async () => {
    asked.resolve();
    await marked.promise;
    return 'Done.';
  });
  const world = await openWorld({ database, models: { default: model } });
  await world.start();
  const { ada, bot, space } = await lobby(world);
  await world.say(space, ada, 'go');
  await asked.promise;
  const runId = await runOf(world, bot);
  // The cancel is written, and not yet committed, while the run is about to end.
  await client.query('begin');
  await client.query('update runs set cancel_requested_at = 1 where id = $1', [runId]);
  marked.resolve();
  await until('the end waits for the row', async () => {
    await client.query('select pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%runs%'`,
    );
    return rows.length > 0;
  });
  await client.query('commit');
  await world.idle();
  expect(await getRun(world.store.db, runId)).toMatchObject({ status: 'cancelled' });
  await client.end();
  await world.stop();
  await database.remove();
});
