import { expect, test } from 'vitest';
import { endWaitsInSpace } from '../../src/domain/calls/end-waits-in-space.ts';
import { ERASED_INPUT } from '../../src/domain/erasure/mark.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openDesk } from './desk.ts';

describeIdleWorld('calls that wait in a space which is deleted', ({ world }) => {
  const desk = forAllTests(() => openDesk(world));

  test('[O3] they end, and the agent reads why, and not again what the space was asked', async () => {
    const asked = await desk.ask({ input: { question: 'Where does Ann live?' } });
    const approval = await desk.ask({ kind: 'approval', input: { question: 'Where does Ann live?' } });
    const elsewhere = await desk.ask({ spaceId: undefined });
    const job = await desk.ask({ isJob: true });
    await desk.world.in((tx) => endWaitsInSpace(tx, desk.space));
    for (const [{ callId }, status] of [
      [asked, 'error'],
      [approval, 'denied'],
    ] as const) {
      expect(await desk.row(callId)).toMatchObject({ status: 'cancelled' });
      expect((await desk.card(callId))?.status).toBe('cancelled');
      expect(await desk.events(callId)).toMatchObject([{ event: { input: ERASED_INPUT, outcome: { status } } }]);
    }
    // A worker answers the job, and the other call was not asked in this space.
    for (const { callId } of [elsewhere, job]) {
      expect((await desk.row(callId)).status).toBe('pending');
      expect(await desk.events(callId)).toEqual([]);
    }
  });
});
