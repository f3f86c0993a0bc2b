import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/config/define-agent.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep } from '../support/requests.ts';
import { databases } from '../support/stores.ts';

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
