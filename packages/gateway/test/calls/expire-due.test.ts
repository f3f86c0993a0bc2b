import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openDesk } from './desk.ts';

/** Far in the future, so that the call has not expired by the clock of the database. */
const LATER = Date.now() + 86_400_000;

describeIdleWorld('pending calls without an answer', ({ world }) => {
  const desk = forAllTests(() => openDesk(world));

  test('[G32] after its time the call and its card are expired, and the agent gets one event', async () => {
    const { callId } = await desk.ask({ expiresAt: LATER, input: { a: 1 } });
    const waiting = await desk.ask();
    expect(await expireDue(desk.services, { now: LATER - 1 })).toBe(0);
    expect(await expireDue(desk.services, { agentId: 'another', now: LATER })).toBe(0);
    expect((await desk.row(callId)).status).toBe('pending');
    expect(await expireDue(desk.services, { agentId: desk.agent, now: LATER })).toBeGreaterThan(0);
    expect(await expireDue(desk.services, { now: LATER })).toBe(0);
    expect(await desk.row(callId)).toMatchObject({ status: 'expired', resolvedAt: LATER });
    expect((await desk.card(callId))?.status).toBe('expired');
    expect((await desk.told(callId)).filter((type) => type === 'tool-call.expired')).toHaveLength(1);
    expect(await desk.events(callId)).toEqual([
      {
        eventId: `tool_result:${callId}`,
        event: { type: 'tool_result', callId, toolName: 'confirm', input: { a: 1 }, outcome: { status: 'expired' } },
      },
    ]);
    expect((await desk.row(waiting.callId)).status).toBe('pending');
  });

  test('[G32] a later answer gets the status expired, and is kept for operators', async () => {
    const { callId, runId } = await desk.ask({ expiresAt: LATER });
    await expireDue(desk.services, { now: LATER });
    const say = (result: unknown) => answer(desk.services, { runId, callId, answer: { result }, by: desk.member });
    await expect(say('sorry')).rejects.toMatchObject({ code: 'expired' });
    await expect(say('sorry')).rejects.toMatchObject({ code: 'expired' });
    expect((await desk.row(callId)).lateAnswers).toEqual([
      { answer: { result: 'sorry' }, by: desk.person, at: expect.any(Number) },
    ]);
    for (let count = 0; count < 20; count++) await expect(say(count)).rejects.toMatchObject({ code: 'expired' });
    expect((await desk.row(callId)).lateAnswers?.map(({ answer }) => answer)).toEqual(
      [15, 16, 17, 18, 19].map((result) => ({ result })),
    );
    expect(await desk.events(callId)).toHaveLength(1);
    expect((await desk.row(callId)).status).toBe('expired');
  });

  test('[G32] an answer after the time is late, also before the expiry was noticed', async () => {
    const { callId, runId } = await desk.ask({ expiresAt: Date.now() - 1_000 });
    await expect(
      answer(desk.services, { runId, callId, answer: { result: 'late' }, by: desk.member }),
    ).rejects.toMatchObject({ code: 'expired' });
    expect(await desk.row(callId)).toMatchObject({ status: 'expired', lateAnswers: [{ answer: { result: 'late' } }] });
    expect((await desk.card(callId))?.status).toBe('expired');
    expect(await desk.events(callId)).toMatchObject([{ event: { outcome: { status: 'expired' } } }]);
    expect(await expireDue(desk.services)).toBe(0);
  });

  test('[G32] a late answer of a person who may not answer is not kept', async () => {
    const { callId, runId } = await desk.ask({ expiresAt: LATER });
    await expireDue(desk.services, { now: LATER });
    await expect(
      answer(desk.services, { runId, callId, answer: { result: 1 }, by: { entityId: desk.stranger } }),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect(await desk.row(callId)).not.toHaveProperty('lateAnswers');
  });

  test('[G32] many expired calls end in one sweep', async () => {
    for (let count = 0; count < 205; count++) await desk.ask({ expiresAt: LATER + (count % 7), spaceId: undefined });
    expect(await expireDue(desk.services, { now: LATER + 7 })).toBe(205);
    expect(await expireDue(desk.services, { now: LATER + 7 })).toBe(0);
  });

  test('[G32] a call whose row is damaged does not keep the calls of others from expiring', async () => {
    const broken = await desk.ask({ expiresAt: LATER, input: { a: 1 } });
    const other = await desk.ask({ expiresAt: LATER + 1 });
    const write = (input: string) =>
      desk.world.in((tx) => tx.db.updateTable('calls').set({ input }).where('id', '=', broken.callId).execute());
    await write('{"a');
    expect(await expireDue(desk.services, { now: LATER + 1 })).toBe(1);
    expect((await desk.row(other.callId)).status).toBe('expired');
    expect(desk.world.logs.at(-1)?.message).toMatch(
      new RegExp(`^Call ${broken.callId} could not be expired, and is tried again: .* in JSON`),
    );
    // Repaired, it expires too.
    await write('{"a":1}');
    expect(await expireDue(desk.services, { now: LATER + 1 })).toBe(1);
  });
});
