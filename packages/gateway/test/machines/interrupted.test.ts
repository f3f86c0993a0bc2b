import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkDefinitions } from '../../src/config/definitions.ts';
import { answerCall } from '../../src/domain/calls/answer-call.ts';
import { loadTranscriptRows } from '../../src/domain/transcript/load-transcript.ts';
import { restoreMachine } from '../../src/runtime/run/restore-machine.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { crewCharter } from '../support/crew-charter.ts';
import { disturb, goOn, type How } from '../support/disturbed-run.ts';
import { lobby } from '../support/lobby.ts';
import { type Database, embedded } from '../support/stores.ts';
import type { When } from '../support/watched-store.ts';
import { openWorld, type World } from '../support/world.ts';

/** A boss with two workers, a transition, and an approval in the leaf that it leads to. */
function script() {
  const effects: string[] = [];
  const weigh = tool({
    description: 'Weighs.',
    inputSchema: z.object({}),
    execute(_input, { toolCallId }) {
      effects.push(`weighed ${toolCallId}`);
      return 'Heavy.';
    },
  });
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({}),
    approval: true,
    execute(_input, { toolCallId }) {
      effects.push(`paid ${toolCallId}`);
      return 'Paid.';
    },
  });
  const model = scriptedModel(({ prompt }) => {
    const [system] = prompt;
    const all = JSON.stringify(prompt.slice(1));
    if (String(system?.content).startsWith('You are a worker.'))
      return all.includes('"weigh"') ? [{ toolName: 'transition_report' }] : [{ toolName: 'weigh' }];
    if (String(system?.content).startsWith('You are the payer.'))
      return all.includes('"toolName":"pay"') ? 'Done.' : [{ toolName: 'pay' }];
    return all.includes('It was weighed.') ? [{ toolName: 'transition_settle' }] : [{ toolName: 'transition_hire' }];
  });
  const definitions = checkDefinitions({ crew: { machine: crewCharter({ weigh, pay }) } });
  if (!definitions.ok) throw new Error(definitions.problems[0]?.message);
  const registry = {
    tools: {},
    definitions: definitions.value,
    model: () => model,
    agentLimits: {},
    toolCaches: new ToolCaches(),
  };
  return { effects, registry };
}

describe.each(embedded)('a machine on $kind', ({ create }) => {
  let database: Database;
  let world: World;
  beforeAll(async () => {
    database = await create();
    world = await openWorld({ database, models: {} });
  });
  afterAll(async () => {
    await world.stop();
    await database.remove();
  });

  const waitingCalls = (bot: string) =>
    world.store.db
      .selectFrom('calls')
      .select(['id', 'run_id', 'node'])
      .where('thread_id', '=', bot)
      .where('wait_status', '=', 'pending')
      .execute();

  /** Sends the machine a message and approves the waiting call; one of the two runs is killed, or interrupted, at its n-th transaction. */
  async function killed(run: 1 | 2, at: number, when: When, how: How) {
    const { effects, registry } = script();
    const { ada, bot, space } = await lobby(world, { definition: 'crew', instructions: '' }, { isIn: true });
    await world.say(space, ada, 'Go');
    const kill = (): Promise<number> => disturb(world, registry, bot, { at, when, how });
    const first = run === 1 ? await kill() : 0;
    await goOn(world, registry, bot);
    const [call] = await waitingCalls(bot);
    if (call === undefined) throw new Error(`Nothing waits after a kill ${when} transaction ${at} of run ${run}.`);
    const answer = {
      runId: call.run_id,
      callId: call.id,
      answer: { approve: true },
      by: { key: true },
    } as const;
    await world.store.transaction((tx) => answerCall(tx, answer));
    const second = run === 2 ? await kill() : 0;
    for (let tries = 0; tries < 2; tries++) await goOn(world, registry, bot);
    const { db } = world.store;
    const rows = await loadTranscriptRows(db, bot);
    const machine = restoreMachine(registry.definitions.crew?.machine as never, { rows, state: undefined });
    const calls = await db
      .selectFrom('calls')
      .select(['tool_name', 'status', 'outcome'])
      .where('thread_id', '=', bot)
      .orderBy('id')
      .execute();
    const runs = await db.selectFrom('runs').select('status').where('thread_id', '=', bot).execute();
    return {
      transactions: first + second,
      effects,
      asked: call.node,
      heard: rows.filter(({ kind, payload }) => kind === 'message' && payload.includes('space_message')).length,
      tree: machine.tree.root.node,
      children: machine.tree.root.children.length,
      waits: machine.suspended.length,
      ceded: machine.history.filter(({ kind }) => kind === 'ceded').length,
      calls: calls.map(({ tool_name, status }) => `${tool_name} ${status}`).sort(),
      unknown: calls.filter(({ outcome }) => outcome?.includes('unknown_outcome')).length,
      runs: runs.map(({ status }) => status),
      cards: (
        await db
          .selectFrom('messages')
          .select('status')
          .where('space_id', '=', space)
          .where('kind', '=', 'tool')
          .execute()
      ).map(({ status }) => status),
    };
  }

  test.each([
    ['kill', 1],
    ['kill', 2],
    ['interrupt', 1],
    ['interrupt', 2],
  ] as const)(
    '[A16] stopped (%s) at every transaction of run %i, with two workers, a transition and a suspension: no call runs twice, no cede is lost or doubled',
    async (how, run) => {
      const whole = await killed(run, Number.POSITIVE_INFINITY, 'before', how);
      expect(whole).toMatchObject({
        heard: 1,
        asked: 'payer',
        tree: 'payer',
        children: 0,
        waits: 0,
        ceded: 2,
        unknown: 0,
        runs: ['completed', 'completed'],
        cards: ['complete'],
      });
      expect(whole.effects).toHaveLength(3);
      expect(whole.transactions).toBeGreaterThan(run === 1 ? 5 : 2);
      for (let at = 2; at <= whole.transactions; at++)
        for (const when of ['before', 'after'] as const) {
          const end = await killed(run, at, when, how);
          const where = `${when} transaction ${at} of run ${run}`;
          const { heard, asked, tree, children, waits, ceded, calls, runs } = end;
          expect({ where, heard, asked, tree, children, waits, ceded, runs }).toEqual({
            where,
            heard: 1,
            asked: 'payer',
            tree: whole.tree,
            children: 0,
            waits: 0,
            ceded: 2,
            runs: whole.runs,
          });
          expect([where, new Set(end.effects).size]).toEqual([where, end.effects.length]);
          // A worker whose call may have run reads that, and nothing runs a second time.
          if (end.unknown === 0) expect([where, calls, end.effects.length]).toEqual([where, whole.calls, 3]);
          expect([where, calls.filter((one) => !one.endsWith(' settled'))]).toEqual([where, []]);
        }
    },
  );

  test.each(['kill', 'interrupt'] as const)(
    '[A16] [A17] a person who writes while the machine waits gets one notice, also if the run is stopped (%s) at any transaction',
    async (how) => {
      const told = async (at: number, when: When): Promise<[number, number]> => {
        const { registry } = script();
        const config = { definition: 'crew', instructions: '', replies: 'text' };
        const { ada, bot, space } = await lobby(world, config, { isIn: true });
        await world.say(space, ada, 'Go');
        await goOn(world, registry, bot);
        await world.say(space, ada, 'Are you there?');
        const transactions = await disturb(world, registry, bot, { at, when, how });
        for (let tries = 0; tries < 2; tries++) await goOn(world, registry, bot);
        const said = await world.store.db.selectFrom('messages').selectAll().where('space_id', '=', space).execute();
        return [said.filter((one) => JSON.stringify(one).includes('I have your message')).length, transactions];
      };
      const [whole, transactions] = await told(Number.POSITIVE_INFINITY, 'before');
      expect([whole, transactions > 1]).toEqual([1, true]);
      for (let at = 2; at <= transactions; at++)
        for (const when of ['before', 'after'] as const)
          expect([at, when, (await told(at, when))[0]]).toEqual([at, when, 1]);
    },
  );
});
