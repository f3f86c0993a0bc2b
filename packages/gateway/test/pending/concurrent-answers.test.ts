import { describe, expect, test } from 'vitest';
import { answer } from '../../src/domain/pending/answer-call.ts';
import { expireDue } from '../../src/domain/pending/expire-due.ts';
import { databases } from '../support/stores.ts';
import { createDesk } from './desk.ts';

describe.each(databases)('answers at once on $kind', ({ kind, create }) => {
  test('[G31] ten different answers through two gateways: one wins, nine are told so, the agent hears once', async () => {
    const desk = await createDesk(create);
    const gateways = [desk.services, kind === 'postgres' ? await desk.world.beside() : desk.services];
    for (let round = 0; round < 5; round++) {
      const { callId, runId } = await desk.ask();
      const ends = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) =>
          answer(gateways[index % 2] ?? desk.services, { runId, callId, answer: { result: index }, by: desk.member }),
        ),
      );
      const won = ends.flatMap((end, index) => (end.status === 'fulfilled' ? [index] : []));
      expect(won).toHaveLength(1);
      const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      for (const refusal of refusals)
        expect(refusal).toMatchObject({
          status: 409,
          code: 'already_answered',
          details: { answer: { result: won[0] } },
        });
      expect(await desk.events(callId)).toMatchObject([{ event: { outcome: { status: 'ok', value: won[0] } } }]);
      expect((await desk.card(callId))?.metadata).toMatchObject({ output: won[0] });
      expect(desk.told(callId).filter((type) => type === 'tool-call.complete')).toHaveLength(1);
    }
    await desk.world.close();
  });

  test('[G31] the same answer ten times at once is one answer', async () => {
    const desk = await createDesk(create);
    const gateways = [desk.services, kind === 'postgres' ? await desk.world.beside() : desk.services];
    const { callId, runId } = await desk.ask();
    const ends = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        answer(gateways[index % 2] ?? desk.services, { runId, callId, answer: { result: 'yes' }, by: desk.member }),
      ),
    );
    expect(ends.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await desk.events(callId)).toHaveLength(1);
    await desk.world.close();
  });

  test('[G32] an answer and the expiry at once: one of them is what happened', async () => {
    const desk = await createDesk(create);
    const other = kind === 'postgres' ? await desk.world.beside() : desk.services;
    for (let round = 0; round < 5; round++) {
      const expiresAt = Date.now() + 600_000;
      const { callId, runId } = await desk.ask({ expiresAt });
      const [answered, expired] = await Promise.allSettled([
        answer(desk.services, { runId, callId, answer: { result: 1 }, by: desk.member }),
        expireDue(other, { now: expiresAt }),
      ]);
      const { status } = await desk.row(callId);
      expect(status).toBe(answered.status === 'fulfilled' ? 'resolved' : 'expired');
      expect(expired).toEqual({ status: 'fulfilled', value: status === 'expired' ? 1 : 0 });
      expect(await desk.events(callId)).toHaveLength(1);
    }
    await desk.world.close();
  });
});
