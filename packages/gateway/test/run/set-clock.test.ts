import { setTimeout as sleep } from 'node:timers/promises';
import { dispatchCall, pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { charter, node } from '@lastcall/machines';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/config/define-agent.ts';
import { listMessages } from '../../src/domain/spaces/list-messages.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';

/** An administrator sets the clock of the machine. */
function setClock(byMs: number): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each([3_600_000, -3_600_000])('a clock that is set by %i ms while a tool runs', (byMs) => {
  describeWorlds(
    'a clock that is set during a run',
    (open) => {
      const answer = async (config: object) => {
        let runs = 0;
        const wait = tool({
          description: 'Waits.',
          inputSchema: z.object({}),
          effects: 'none',
          async execute() {
            if (++runs === 1) setClock(byMs);
            // Several sweeps, so that a lease that seemed to be over would be taken.
            await sleep(350);
            return 'waited';
          },
        });
        const model = scriptedModel((request) => (isFirstStep(request) ? [{ toolName: 'wait', input: {} }] : 'Done.'));
        const desk = defineAgent({
          machine: charter({ nodes: { desk: node({ instructions: 'Wait.', tools: { wait } }) } }),
        });
        const world = await open({ models: { default: model }, tools: { wait }, definitions: { desk } });
        const { ada, bot, space } = await lobby(world, { replies: 'text', ...config }, { isIn: true });
        for (const text of ['One', 'Two']) {
          await world.say(space, ada, text);
          await world.idle();
        }
        const { db } = world.store;
        const ended = await db.selectFrom('runs').select(['status', 'stop']).where('thread_id', '=', bot).execute();
        return { runs, ended };
      };

      test('a run does not end at its deadline, and is not taken over', async () => {
        expect(await answer({ tools: ['wait'] })).toEqual({
          runs: 2,
          ended: Array(2).fill({ status: 'completed', stop: expect.stringContaining('"text"') }),
        });
      });

      test('a run of a machine does not end at its deadline, and is not taken over', async () => {
        expect(await answer({ definition: 'desk' })).toEqual({
          runs: 2,
          ended: Array(2).fill({ status: 'completed', stop: expect.stringContaining('"text"') }),
        });
      });
    },
    databases,
  );
});

test('a clock that is set forward while a tool is tested does not use up the time of the test', async () => {
  const inputSchema = z.object({});
  const inner = tool({ description: 'Answers.', inputSchema, effects: 'none', execute: () => 'in time' });
  const outer = tool({
    ...{ description: 'Calls.', inputSchema, effects: 'none' },
    execute: async (_input, ctx) => {
      setClock(3_600_000);
      const call = { toolName: 'inner', input: {} };
      return (await dispatchCall({ tools: { inner }, call, parent: ctx })).outcome.text;
    },
  });
  await using gateway = await startTestGateway({ tools: { outer } });
  const { outcome } = await gateway.api('/api/tools/outer/test', { input: {} });
  expect(outcome).toMatchObject({ status: 'ok', value: 'in time' });
});

describe.each([3_600_000, -3_600_000])('a clock that is wrong by %i ms', (byMs) => {
  describeWorlds(
    'a clock that differs from the clock of the database',
    (open) => {
      test('a call whose tool says how long it may wait expires by the clock of the database', async () => {
        const ask = tool({
          description: 'Asks.',
          inputSchema: z.object({}),
          effects: 'none',
          execute: () => pending({ expiresInMs: 600_000 }),
        });
        const model = scriptedModel((request) => (isFirstStep(request) ? [{ toolName: 'ask', input: {} }] : 'Done.'));
        const world = await open({ models: { default: model }, tools: { ask } });
        const { ada, bot, space } = await lobby(world, { replies: 'text', tools: ['ask'] }, { isIn: true });
        setClock(byMs);
        const before = await world.store.transaction(async (tx) => tx.now());
        await world.say(space, ada, 'Ask.');
        await world.idle();
        const { callId } = await waitingOf(world, bot);
        const [call, after] = await world.store.transaction(async (tx) => [
          await tx.db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirstOrThrow(),
          tx.now(),
        ]);
        expect(call.wait_status).toBe('pending');
        expect(call.expires_at).toBeGreaterThan(before + 599_000);
        expect(call.expires_at).toBeLessThanOrEqual(after + 600_000);
      });

      test.each([
        ['says how long it may wait', {}],
        ['needs an approval', { approval: true }],
      ])(
        '[G32] [G47] a call whose tool %s expires at one time in its row, its outcome, its card and the event of its run',
        async (_, { approval = false }: { approval?: boolean }) => {
          const ask = tool({
            description: 'Asks.',
            inputSchema: z.object({}),
            effects: 'none',
            approval,
            execute: () => pending({ expiresInMs: 600_000 }),
          });
          const model = scriptedModel((request) => (isFirstStep(request) ? [{ toolName: 'ask', input: {} }] : 'Done.'));
          const tools = { ask: { tool: ask, visible: true, expiresInMs: 900_000 } };
          const world = await open({ models: { default: model }, tools });
          const { ada, bot, space } = await lobby(world, { replies: 'text', tools: ['ask'] }, { isIn: true });
          setClock(byMs);
          await world.say(space, ada, 'Ask.');
          await world.idle();
          const { callId, runId } = await waitingOf(world, bot);
          const { db } = world.store;
          const call = await db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirstOrThrow();
          const card = (await listMessages(db, { spaceId: space })).items.find(({ kind }) => kind === 'tool');
          const told = (await world.events(`run:${runId}`)).find(({ type }) => type === 'tool-call.pending');
          const payload = told?.payload as { outcome: { expiresAt: number } };
          const expiresAt = call.expires_at;
          expect(expiresAt).toEqual(expect.any(Number));
          expect({
            outcome: JSON.parse(call.outcome ?? '').expiresAt,
            card: card?.call?.expiresAt,
            told: payload.outcome.expiresAt,
          }).toEqual({ outcome: expiresAt, card: expiresAt, told: expiresAt });
        },
      );
    },
    databases,
  );
});
