import type { Answer } from '@lastcall/core';
import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { listOpenJobs } from '../../src/domain/calls/list-open-jobs.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openDesk } from './desk.ts';
import { openWaiting } from './open-waiting.ts';

const inputSchema = { type: 'object', properties: { amount: { type: 'number', maximum: 100 } }, required: ['amount'] };

describeIdleWorld('approvals', ({ world }) => {
  const desk = forAllTests(() => openDesk(world));

  const ask = () => desk.ask({ kind: 'approval', toolName: 'pay', input: { amount: 5 }, inputSchema });
  const say = (call: { callId: string; runId: string }, given: Answer) =>
    answer(desk.services, { ...call, answer: given, by: desk.member });
  const outcomes = async (callId: string) =>
    (await desk.events(callId)).map(({ event }) => (event.type === 'tool_result' ? event.outcome : undefined));

  test('[G36] an approval wakes the agent, and the card shows that the call runs', async () => {
    const call = await ask();
    await say(call, { approve: true });
    expect(await outcomes(call.callId)).toEqual([{ status: 'approved' }]);
    expect((await desk.card(call.callId))?.status).toBe('running');
    expect(await say(call, { approve: true })).toMatchObject({ duplicate: true });
    await expect(say(call, { deny: 'no' })).rejects.toMatchObject({
      code: 'already_answered',
      details: { answer: { approve: true } },
    });
  });

  test('[G36] a denial has a reason; the call never ran, so its card is cancelled', async () => {
    const call = await ask();
    await say(call, { deny: 'Too much.' });
    expect(await outcomes(call.callId)).toEqual([{ status: 'denied', reason: 'Too much.' }]);
    expect(await desk.card(call.callId)).toMatchObject({
      status: 'cancelled',
      metadata: { output: { denied: 'Too much.' } },
    });
  });

  test.each(['', ' \n'])('[G36] a denial with the reason %j says that no reason was given', async (deny) => {
    const call = await ask();
    await say(call, { deny });
    const reason = 'No reason was given.';
    expect(await outcomes(call.callId)).toEqual([{ status: 'denied', reason }]);
    expect((await desk.card(call.callId))?.metadata).toMatchObject({ output: { denied: reason } });
    expect(await say(call, { deny })).toMatchObject({ duplicate: true });
  });

  test('[G36] an edited input is checked again, and shown', async () => {
    const call = await ask();
    await expect(say(call, { approve: true, input: { amount: 500 } })).rejects.toMatchObject({
      code: 'invalid_answer',
      details: { path: 'input.amount' },
    });
    await expect(say(call, { approve: true, input: null })).rejects.toMatchObject({ code: 'invalid_answer' });
    await say(call, { approve: true, input: { amount: 4 } });
    expect(await desk.events(call.callId)).toMatchObject([
      { event: { input: { amount: 5 }, outcome: { status: 'approved', input: { amount: 4 } } } },
    ]);
    expect((await desk.card(call.callId))?.metadata).toMatchObject({ input: { amount: 4 } });
  });

  test('[G36] an edited input is not checked against the result schema', async () => {
    const call = await desk.ask({ kind: 'approval', resultSchema: { type: 'string' } });
    expect(await say(call, { approve: true, input: { any: 1 } })).toMatchObject({ duplicate: false });
  });

  test('[G36] a call that waits for approval and then for its result takes one answer of each kind', async () => {
    const call = await ask();
    await say(call, { approve: true });
    await world.in((tx) =>
      openWaiting(tx, {
        ...call,
        agentId: desk.agent,
        spaceId: desk.space,
        toolName: 'pay',
        kind: 'result',
        input: { amount: 5 },
        resultSchema: { type: 'string' },
      }),
    );
    expect(await desk.row(call.callId)).toMatchObject({ status: 'pending', kind: 'result' });
    expect(await say(call, { approve: true })).toMatchObject({ duplicate: true });
    await expect(say(call, { deny: 'no' })).rejects.toMatchObject({ code: 'already_answered' });
    await expect(say(call, { result: 5 })).rejects.toMatchObject({ code: 'invalid_answer' });
    await say(call, { result: 'paid' });
    await expect(say(call, { result: 'not paid' })).rejects.toMatchObject({
      code: 'already_answered',
      details: { answer: { result: 'paid' } },
    });
    expect(await outcomes(call.callId)).toEqual([{ status: 'approved' }, { status: 'ok', value: 'paid' }]);
  });

  test('a job that needs approval is offered to workers once it is approved, and not before', async () => {
    const call = await desk.ask({ kind: 'approval', isJob: true });
    const offered = async () =>
      (await listOpenJobs(world.store.db, desk.agent, Date.now())).map(({ callId }) => callId);
    expect(await offered()).not.toContain(call.callId);
    await say(call, { approve: true });
    const job = { ...call, agentId: desk.agent, toolName: 'confirm', kind: 'result' as const, input: {}, isJob: true };
    await world.in((tx) => openWaiting(tx, job));
    expect(await offered()).toContain(call.callId);
  });

  test('a call that was denied, or has its result, does not wait again', async () => {
    const call = await desk.ask();
    await say(call, { result: 1 });
    const again = { ...call, agentId: desk.agent, toolName: 'confirm', kind: 'result' as const, input: {} };
    await world.in((tx) => openWaiting(tx, again));
    expect((await desk.row(call.callId)).status).toBe('resolved');
  });

  test('[G32] [G36] a call that is not approved in time expires', async () => {
    const expiresAt = Date.now() + 86_400_000;
    const call = await desk.ask({ kind: 'approval', expiresAt });
    expect(await expireDue(desk.services, { now: expiresAt })).toBe(1);
    expect(await outcomes(call.callId)).toEqual([{ status: 'expired' }]);
    const again = { ...call, agentId: desk.agent, toolName: 'confirm', kind: 'result' as const, input: {} };
    await world.in((tx) => openWaiting(tx, again));
    expect((await desk.row(call.callId)).status).toBe('expired');
    await expect(say(call, { approve: true })).rejects.toMatchObject({ code: 'expired' });
  });

  test('a schema that cannot be used is refused when the call is made', async () => {
    await expect(desk.ask({ resultSchema: { type: 'strnig' } })).rejects.toMatchObject({ code: 'schema' });
  });
});
