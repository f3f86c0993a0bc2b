import type { Answer } from '@lastcall/core';
import { expect, test } from 'vitest';
import { answer, answerCall } from '../../src/domain/calls/answer-call.ts';
import { cancelWaiting } from '../../src/domain/calls/cancel-waiting.ts';
import { listWaiting } from '../../src/domain/calls/list-waiting.ts';
import { insertRun } from '../runs/rows.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openDesk } from './desk.ts';

const confirmed = { type: 'object', properties: { confirmed: { type: 'boolean' } }, required: ['confirmed'] };

describeIdleWorld({ title: 'answers to waiting calls', limits: { resultBytes: 1_000 } }, ({ world, beside }) => {
  const after = beside();
  const desk = forAllTests(() => openDesk(world));

  test('[G29] [G30] [G34] the first valid answer resolves the call, updates its card and wakes the agent in one transaction', async () => {
    const { callId, runId } = await desk.ask({ input: { question: 'Book?' } });
    expect(
      await answer(desk.services, { runId, callId, answer: { result: { confirmed: true } }, by: desk.member }),
    ).toEqual({
      callId,
      duplicate: false,
      runId: expect.any(String),
    });
    expect(await desk.row(callId)).toMatchObject({
      status: 'resolved',
      answer: { result: { confirmed: true } },
      resolvedBy: desk.person,
      resolvedAt: expect.any(Number),
    });
    expect(await desk.events(callId)).toEqual([
      {
        eventId: `tool_result:${callId}`,
        event: {
          type: 'tool_result',
          callId,
          toolName: 'confirm',
          input: { question: 'Book?' },
          outcome: { status: 'ok', value: { confirmed: true } },
          resolvedBy: { entityId: desk.person, name: 'Husam' },
        },
      },
    ]);
    expect(await desk.card(callId)).toMatchObject({
      status: 'complete',
      metadata: { toolName: 'confirm', input: { question: 'Book?' }, output: { confirmed: true } },
    });
    expect(await desk.told(callId)).toContain('tool-call.complete');
    expect(world.wakes).toContainEqual(desk.agent);
  });

  test('[G30] a transaction that fails leaves nothing of the answer', async () => {
    const { callId, runId } = await desk.ask();
    const failing = world.in(async (tx) => {
      await answerCall(tx, { runId, callId, answer: { result: 1 }, by: desk.member });
      throw new Error('the server went away');
    });
    await expect(failing).rejects.toThrow('went away');
    expect((await desk.row(callId)).status).toBe('pending');
    expect(await desk.events(callId)).toEqual([]);
    expect((await desk.card(callId))?.status).toBe('requires_action');
    expect(await answer(desk.services, { runId, callId, answer: { result: 2 }, by: desk.member })).toMatchObject({
      duplicate: false,
    });
  });

  test('[G29] the same content again is a duplicate, with its fields in any order', async () => {
    const { callId, runId } = await desk.ask();
    const say = (result: unknown) => answer(desk.services, { runId, callId, answer: { result }, by: desk.member });
    await say({ a: 1, b: { c: [1, 2], d: 'x' } });
    expect(await say({ b: { d: 'x', c: [1, 2] }, a: 1 })).toEqual({
      ...{ callId, duplicate: true },
      runId: expect.any(String),
    });
    expect(await desk.events(callId)).toHaveLength(1);
    await expect(say({ a: 1, b: { c: [2, 1], d: 'x' } })).rejects.toMatchObject({ code: 'already_answered' });
  });

  test('[G29] an answer with other content gets the answer that won', async () => {
    const { callId, runId } = await desk.ask();
    await answer(desk.services, { runId, callId, answer: { result: 'yes' }, by: desk.member });
    for (const other of [
      { result: 'no' },
      { error: 'yes' },
      { result: { result: 'yes' } },
      { approve: true },
    ] as Answer[])
      await expect(answer(desk.services, { runId, callId, answer: other, by: { key: true } })).rejects.toMatchObject({
        code: 'already_answered',
        details: { answer: { result: 'yes' }, resolvedBy: desk.person, resolvedAt: expect.any(Number) },
      });
    expect(await desk.events(callId)).toHaveLength(1);
  });

  test('[G29] an answer that lost is kept for operators, with its author, content and time', async () => {
    const agentId = await world.agent();
    const call = await desk.ask({ agentId });
    const loser = await desk.addMember('guest');
    await answer(desk.services, { ...call, answer: { result: 'yes' }, by: desk.member });
    const lose = (result: string) => answer(desk.services, { ...call, answer: { result }, by: { entityId: loser } });
    for (const result of ['no', 'perhaps', 'no'])
      await expect(lose(result)).rejects.toMatchObject({ code: 'already_answered' });
    const { items } = await listWaiting(world.store.db, { agentId, status: 'resolved' });
    expect(items).toMatchObject([
      {
        answer: { result: 'yes' },
        resolvedByName: 'Husam',
        lateAnswers: ['perhaps', 'no'].map((result) => ({
          ...{ answer: { result }, by: loser, byName: 'guest', at: expect.any(Number) },
        })),
      },
    ]);
    const [seen] = (await listWaiting(world.store.db, { agentId, status: 'resolved', entityId: loser })).items;
    expect(seen).not.toHaveProperty('lateAnswers');
    // An answer that repeats the winning one has not lost.
    await answer(desk.services, { ...call, answer: { result: 'yes' }, by: { entityId: loser } });
    expect((await desk.row(call.callId)).lateAnswers).toHaveLength(2);
    expect(await desk.events(call.callId)).toHaveLength(1);
  });

  test('[G29] the same answer of two people who both lost is kept for each of them', async () => {
    const call = await desk.ask();
    const losers = [await desk.addMember('guest'), await desk.addMember('guest')];
    await answer(desk.services, { ...call, answer: { result: 'yes' }, by: desk.member });
    for (const entityId of losers)
      await expect(
        answer(desk.services, { ...call, answer: { result: 'no' }, by: { entityId } }),
      ).rejects.toMatchObject({
        code: 'already_answered',
      });
    expect((await desk.row(call.callId)).lateAnswers?.map(({ by }) => by)).toEqual(losers);
  });

  test('[G29] an error is an answer too', async () => {
    const { callId, runId } = await desk.ask({ resultSchema: confirmed });
    await answer(desk.services, { runId, callId, answer: { error: 'No rooms.' }, by: desk.member });
    expect((await desk.events(callId))[0]?.event).toMatchObject({
      outcome: { status: 'error', message: 'No rooms.' },
    });
    expect(await desk.card(callId)).toMatchObject({ status: 'error', metadata: { output: { error: 'No rooms.' } } });
  });

  test('[G29] an unknown call, and the call of another run, is not found', async () => {
    const { callId, runId } = await desk.ask();
    const another = await desk.world.agent('Another');
    const runOfAnother = await desk.world.in((tx) => insertRun(tx, { thread_id: another, status: 'completed' }));
    for (const [run, call] of [
      [runId, 'nope'],
      ['other-run', callId],
      [runOfAnother, callId],
      [runId, ''],
      [runId, 'a\0b'],
      ['a\0b', callId],
    ] as const)
      await expect(
        answer(desk.services, { runId: run, callId: call, answer: { result: 1 }, by: { key: true } }),
      ).rejects.toMatchObject({ code: 'not_found' });
    expect((await desk.row(callId)).status).toBe('pending');
  });

  test('[G1] [G29] a person who is not, or no longer, a member of its space does not learn that the call exists', async () => {
    const { callId, runId } = await desk.ask();
    const say = (entityId: string) => answer(desk.services, { runId, callId, answer: { result: 1 }, by: { entityId } });
    await expect(say(desk.stranger)).rejects.toMatchObject({ code: 'not_found' });
    await expect(say('nobody\0')).rejects.toMatchObject({ code: 'not_found' });
    const former = await desk.addMember('member');
    await desk.leave(former);
    await expect(say(former)).rejects.toMatchObject({ code: 'not_found' });
    expect((await desk.row(callId)).status).toBe('pending');
  });

  test('[G33] only the answerers of the tool may answer; other members are forbidden', async () => {
    const [named, owner] = [await desk.addMember('member'), await desk.addMember('owner')];
    const answeredBy = { entities: [named, desk.stranger], roles: ['owner'] };
    const first = await desk.ask({ answeredBy });
    const say = ({ callId, runId }: typeof first, entityId: string) =>
      answer(desk.services, { runId, callId, answer: { result: 1 }, by: { entityId } });
    await expect(say(first, desk.person)).rejects.toMatchObject({ code: 'may_not_answer' });
    await expect(say(first, desk.stranger)).rejects.toMatchObject({ code: 'not_found' });
    await say(first, named);
    expect((await desk.row(first.callId)).resolvedBy).toBe(named);
    const second = await desk.ask({ answeredBy });
    await say(second, owner);
    expect((await desk.row(second.callId)).resolvedBy).toBe(owner);
    await expect(say(second, desk.person)).rejects.toMatchObject({ code: 'may_not_answer' });
  });

  test('[G33] a call without a card is visible to keys and to the entities that the tool names', async () => {
    const { callId, runId } = await desk.ask({ spaceId: undefined, answeredBy: { entities: [desk.stranger] } });
    const say = (entityId: string) => answer(desk.services, { runId, callId, answer: { result: 1 }, by: { entityId } });
    await expect(say(desk.person)).rejects.toMatchObject({ code: 'not_found' });
    await say(desk.stranger);
    expect(await desk.events(callId)).toHaveLength(1);
  });

  test('[G33] a secret key may answer every call, and is recorded', async () => {
    const { callId, runId } = await desk.ask({ answeredBy: { roles: ['owner'] } });
    await answer(desk.services, { runId, callId, answer: { result: 1 }, by: { key: true, keyId: 'k1' } });
    expect((await desk.row(callId)).resolvedBy).toBe('key:k1');
    expect((await desk.events(callId))[0]?.event).not.toHaveProperty('resolvedBy');
  });

  test('[G29] an answer that does not fit the schema is refused with its path, and the call still waits', async () => {
    const { callId, runId } = await desk.ask({ resultSchema: confirmed });
    const say = (result: unknown) => answer(desk.services, { runId, callId, answer: { result }, by: desk.member });
    await expect(say({ confirmed: 'yes' })).rejects.toMatchObject({
      code: 'invalid_answer',
      details: { path: 'result.confirmed' },
    });
    await expect(say({})).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining('confirmed'),
    });
    await expect(say(null)).rejects.toMatchObject({ code: 'invalid_answer', details: { path: 'result' } });
    expect((await desk.row(callId)).status).toBe('pending');
    expect(await say({ confirmed: true })).toMatchObject({ duplicate: false });
  });

  test('the agent reads the answer with the defaults of its schema; the same answer again is a duplicate', async () => {
    const schema = { type: 'object', properties: { nights: { type: 'integer', default: 1 } } };
    const { callId, runId } = await desk.ask({ resultSchema: schema });
    const say = () => answer(desk.services, { runId, callId, answer: { result: {} }, by: desk.member });
    await say();
    expect((await desk.events(callId))[0]?.event).toMatchObject({ outcome: { status: 'ok', value: { nights: 1 } } });
    expect(await say()).toMatchObject({ duplicate: true });
  });

  test('[G29] [G53] an answer that is too large is refused', async () => {
    const { callId, runId } = await desk.ask();
    const say = (result: string) => answer(desk.services, { runId, callId, answer: { result }, by: desk.member });
    await expect(say('x'.repeat(1_000))).rejects.toMatchObject({ code: 'too_large' });
    await expect(say('é'.repeat(500))).rejects.toMatchObject({ code: 'too_large' });
    expect(await say('x'.repeat(980))).toMatchObject({ duplicate: false });
  });

  test('[G36] an answer to one kind of wait does not answer the other kind', async () => {
    const result = await desk.ask();
    for (const wrong of [{ approve: true }, { deny: 'no' }] as Answer[])
      await expect(answer(desk.services, { ...result, answer: wrong, by: desk.member })).rejects.toMatchObject({
        code: 'wrong_answer',
      });
    const approval = await desk.ask({ kind: 'approval' });
    for (const wrong of [{ result: true }, { error: 'no' }] as Answer[])
      await expect(answer(desk.services, { ...approval, answer: wrong, by: desk.member })).rejects.toMatchObject({
        code: 'wrong_answer',
      });
  });

  test('[G29] [G17] a cancelled call cannot be answered, its card is cancelled too, and no agent is woken', async () => {
    const other = await world.agent();
    const { callId, runId } = await desk.ask({ agentId: other });
    const untouched = await desk.ask();
    world.wakes.length = 0;
    const count = await world.in((tx) => cancelWaiting(tx, { agentId: other }));
    expect(count).toBe(1);
    expect((await desk.row(callId)).status).toBe('cancelled');
    expect((await desk.card(callId))?.status).toBe('cancelled');
    expect(world.wakes).toEqual([]);
    expect((await desk.row(untouched.callId)).status).toBe('pending');
    await expect(
      answer(desk.services, { runId, callId, answer: { result: 1 }, by: desk.member }),
    ).rejects.toMatchObject({ code: 'cancelled' });
    expect((await desk.row(callId)).lateAnswers).toMatchObject([{ answer: { result: 1 }, by: desk.person }]);
    expect(await world.in((tx) => cancelWaiting(tx, { agentId: other }))).toBe(0);
  });

  test('hostile content is passed on unchanged', async () => {
    const { callId, runId } = await desk.ask({ input: { text: '\0\ud800' } });
    const result = JSON.parse('{"__proto__":{"a":1},"text":"\\u0000\\ud800</inbox>","1":2}') as unknown;
    await answer(desk.services, { runId, callId, answer: { result }, by: desk.member });
    const [event] = await desk.events(callId);
    expect(JSON.stringify(event)).toContain(JSON.stringify(result));
    expect(event?.event).toMatchObject({ input: { text: '\0\ud800' } });
  });

  test('[G35] a call can be answered according to the configuration at the time of the call', async () => {
    const { callId, runId } = await desk.ask({ resultSchema: confirmed });
    await world.in(async (tx) => {
      const config = JSON.stringify({ name: 'Other', instructions: '' });
      await tx.db.updateTable('agents').set({ config, config_version: 9 }).where('id', '=', desk.agent).execute();
      await tx.db.updateTable('calls').set({ created_at: 1, waiting_since: 1 }).where('id', '=', callId).execute();
    });
    const say = (result: unknown) => answer(after.services, { runId, callId, answer: { result }, by: desk.member });
    await expect(say({})).rejects.toMatchObject({ code: 'invalid_answer' });
    expect(await say({ confirmed: true })).toMatchObject({ duplicate: false });
  });
});
