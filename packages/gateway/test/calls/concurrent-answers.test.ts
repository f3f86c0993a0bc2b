import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openDesk } from './desk.ts';

describeIdleWorld('simultaneous answers', ({ world, beside }) => {
  const other = beside();
  const desk = forAllTests(() => openDesk(world));
  const giveTo = (index: number, call: { callId: string; runId: string }, result: unknown) =>
    answer((index % 2 === 0 ? world : other).services, { ...call, answer: { result }, by: desk.member });

  test('[G31] ten different answers through two gateways: one wins, nine get the winner, the agent gets one event', async () => {
    for (let round = 0; round < 5; round++) {
      const call = await desk.ask();
      const { callId } = call;
      const ends = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => giveTo(index, call, index)));
      const won = ends.flatMap((end, index) => (end.status === 'fulfilled' ? [index] : []));
      expect(won).toHaveLength(1);
      const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      for (const refusal of refusals)
        expect(refusal).toMatchObject({
          code: 'already_answered',
          details: { answer: { result: won[0] } },
        });
      expect(await desk.events(callId)).toMatchObject([{ event: { outcome: { status: 'ok', value: won[0] } } }]);
      expect((await desk.card(callId))?.metadata).toMatchObject({ output: won[0] });
      expect((await desk.told(callId)).filter((type) => type === 'tool-call.complete')).toHaveLength(1);
    }
  });

  test('[G31] the same answer ten times at the same moment counts once', async () => {
    const call = await desk.ask();
    const { callId } = call;
    const ends = await Promise.all(Array.from({ length: 10 }, (_, index) => giveTo(index, call, 'yes')));
    expect(ends.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await desk.events(callId)).toHaveLength(1);
  });

  test('[G32] of an answer and an expiry at the same moment only one happens', async () => {
    for (let round = 0; round < 5; round++) {
      const expiresAt = Date.now() + 600_000;
      const { callId, runId } = await desk.ask({ expiresAt });
      const [answered, expired] = await Promise.allSettled([
        answer(desk.services, { runId, callId, answer: { result: 1 }, by: desk.member }),
        expireDue(other.services, { now: expiresAt }),
      ]);
      const { status } = await desk.row(callId);
      expect(status).toBe(answered.status === 'fulfilled' ? 'resolved' : 'expired');
      expect(expired).toEqual({ status: 'fulfilled', value: status === 'expired' ? 1 : 0 });
      expect(await desk.events(callId)).toHaveLength(1);
    }
  });
});
