import { expect, test } from 'vitest';
import { checkDefinitions } from '../../src/config/definitions.ts';
import { answerCall } from '../../src/domain/calls/answer-call.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { startFork } from '../../src/runtime/forks/start-fork.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { disturb, goOn } from '../support/disturbed-run.ts';
import { lobby } from '../support/lobby.ts';
import type { When } from '../support/watched-store.ts';
import { lastRun } from './forking.ts';
import { type Asked, call, countingDesk, deskModel, storedOf, usualDay } from './machine-desk.ts';

/** The original script, except that the clerk of the fork pays again before it closes. */
const decide = (asked: Asked) => {
  const { who, said } = asked;
  if (who !== 'clerk' || !said.includes('Pay 9 too.') || !said.includes('has finished')) return usualDay(asked);
  return said.includes('pay-n9') ? call('transition_close') : call('pay', { n: 9 });
};

const ANSWERS = {
  result: { result: 'Paid by hand.' },
  approve: { approve: true, runForReal: 'pay' },
} as const;

describeIdleWorld('a fork of a machine that is killed', ({ world }) => {
  test.each(['result', 'approve'] as const)(
    '[E1] [E2] at any transaction has the same end, and nothing acts outside without a person or twice: answered with %s',
    async (answer) => {
      const { ran, definitions } = countingDesk();
      const checked = checkDefinitions(definitions);
      if (!checked.ok) throw new Error(checked.problems[0]?.message);
      const model = deskModel(decide);
      const registry = {
        tools: {},
        definitions: checked.value,
        model: () => model,
        agentLimits: {},
        toolCaches: new ToolCaches(),
      };
      const { ada, bot, space } = await lobby(world, { definition: 'desk', instructions: '' });
      await world.say(space, ada, 'Pay 1, order 5 twice, and close.');
      await goOn(world, registry, bot);
      const runId = await lastRun(world, bot);
      const before = await storedOf(world, bot);
      const { db } = world.store;

      /** Kills the first run of a fork, and the run after the answer, at their n-th transaction. */
      const killed = async (at: number, when: When) => {
        const counted = { ...ran };
        const caller = { kind: 'key', keyId: 'key' } as const;
        const changes = { message: 'Pay 9 too.' };
        const { contextId, runId: forkRun } = await world.in((tx) =>
          startFork(tx, registry, { caller, runId, atStep: 3, changes }),
        );
        const first = await disturb(world, registry, contextId, { at, when, how: 'kill' });
        await goOn(world, registry, contextId);
        const asked = { ...ran };
        const waiting = db.selectFrom('calls').select(['id', 'tool_name']).where('thread_id', '=', contextId);
        const calls = await waiting.where('wait_status', '=', 'pending').execute();
        expect(calls.map(({ tool_name }) => tool_name)).toEqual(['pay']);
        const given = {
          runId: forkRun,
          callId: calls[0]?.id ?? '',
          answer: ANSWERS[answer] as never,
          by: { key: true } as const,
        };
        await world.in((tx) => answerCall(tx, given));
        const second = await disturb(world, registry, contextId, { at, when, how: 'kill' });
        for (let tries = 0; tries < 2; tries++) await goOn(world, registry, contextId);
        const end = await getRunDetails(db, await lastRun(world, contextId));
        const told = await db
          .selectFrom('calls')
          .select('outcome')
          .where('id', '=', given.callId)
          .executeTakeFirstOrThrow();
        return {
          transactions: Math.max(first, second),
          acted: { ...asked, look: 0 },
          counted: { ...counted, look: 0 },
          paid: (ran.pay ?? 0) - (asked.pay ?? 0),
          status: end.status,
          response: end.response,
          outcome: told.outcome ?? '',
        };
      };
      const whole = await killed(Number.POSITIVE_INFINITY, 'before');
      const expected = { status: 'completed', response: 'Closed.' };
      expect(whole).toMatchObject({ ...expected, paid: answer === 'approve' ? 1 : 0 });
      expect(whole.transactions).toBeGreaterThan(4);
      for (let at = 2; at <= whole.transactions; at++)
        for (const when of ['before', 'after'] as const) {
          const where = `${when} transaction ${at}`;
          const { acted, counted, paid, outcome, ...end } = await killed(at, when);
          expect([where, end]).toMatchObject([where, expected]);
          expect([where, acted]).toEqual([where, counted]);
          if (answer === 'result')
            expect([where, paid, outcome]).toEqual([where, 0, expect.stringContaining('by hand')]);
          // It is unknown whether a call that was cut off has paid, so it is not made again.
          else expect([where, paid]).toEqual([where, outcome.includes('unknown_outcome') ? expect.any(Number) : 1]);
          expect([where, paid <= 1]).toEqual([where, true]);
        }
      expect(await storedOf(world, bot)).toEqual(before);
    },
  );
});
