import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { findByBody } from '../../src/domain/conversations/turn-requests.ts';
import type { ModelSettings } from '../../src/domain/conversations/turn-settings.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { callerId } from '../../src/runtime/chat/start-turn.ts';
import type { SaidMessage, TurnCaller } from '../../src/runtime/chat/turn-request.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { resultsOf, systemOf } from '../support/requests.ts';
import { call } from './chat-api.ts';

const anything = z.looseObject({});
const look = tool({ description: 'Looks.', inputSchema: anything, effects: 'none', execute: () => 'Seen.' });

describeWorlds('settings of a turn', (open) => {
  test("a new conversation begins with the caller's history, system text and model settings", async () => {
    const model = scriptedModel(['Four.']);
    const world = await open({ models: { default: model } });
    const chat = await chatWith(world, { instructions: 'You are Bot.' });
    const history: readonly SaidMessage[] = [
      { role: 'user', text: 'One' },
      { role: 'assistant', text: 'Two' },
    ];
    const modelSettings: ModelSettings = { temperature: 0.5, maxOutputTokens: 100 };
    const settings = { instructions: 'Answer in one word.', modelSettings };
    const conversation = { agent: chat.agentId, history };
    const { runId, contextId } = await chat.start({ message: 'Three' }, { conversation, settings });
    expect(contextId).not.toBe(chat.contextId);
    expect((await awaitRun(world.services, runId)).response).toBe('Four.');
    const [request] = model.requests;
    expect(request).toMatchObject(modelSettings);
    expect(systemOf(request ?? { prompt: [] })).toBe('You are Bot.\n\nAnswer in one word.');
    expect(request?.prompt.slice(1)).toEqual(
      [...history, { role: 'user', text: 'Three' }].map(({ role, text }) => ({
        role,
        content: [{ type: 'text', text }],
      })),
    );
  });

  test('a turn without effects offers only tools without effects, and a call of another tool is refused', async () => {
    let payments = 0;
    const pay = tool({ description: 'Pays.', inputSchema: anything, execute: () => ++payments });
    const model = scriptedModel([[call('look'), call('pay')], 'A title']);
    const world = await open({ models: { default: model }, tools: { pay, look } });
    const chat = await chatWith(world, { tools: ['pay', 'look'] });
    const { messages } = await chat.say('Title?', { isWithoutEffects: true });
    expect(model.requests[0]?.tools?.map(({ name }) => name).toSorted()).toEqual(['look', 'read_output']);
    expect(JSON.stringify(messages)).toContain('Seen.');
    expect(resultsOf(model.requests[1] ?? { prompt: [] }).map(({ text }) => text)).toEqual([
      'Seen.',
      expect.stringContaining('"pay"'),
    ]);
    expect(payments).toBe(0);
  });

  test('a request is found again by its body alone, for clients that repeat it without a key', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Hi.') } });
    const chat = await chatWith(world);
    const caller: TurnCaller = { kind: 'key', keyId: 'k1' };
    const started = await chat.start({ message: 'Hi' }, { caller, identity: { bodyHash: 'h' } });
    const again = await chat.start({ message: 'Hi' }, { caller, identity: { bodyHash: 'h' } });
    expect(again.runId).not.toBe(started.runId);
    const find = (keyId: string, since = 0) =>
      findByBody(world.store.db, { caller: callerId({ kind: 'key', keyId }), bodyHash: 'h', since });
    // Of two runs in the same millisecond, either may be the newest.
    expect([started.runId, again.runId]).toContain((await find('k1'))?.runId);
    expect(await find('k2')).toBeUndefined();
    expect(await find('k1', Number.MAX_SAFE_INTEGER)).toBeUndefined();
    await world.idle();
  });

  test.each([
    ['another turn', {}],
    ['a turn that is not saved', { save: false as const }],
  ])('an answer continues under the settings of the turn that asked, also after %s', async (_what, more) => {
    const model = scriptedModel([call('ask'), 'Other.', 'Thanks.', 'Unused.']);
    const world = await open({ models: { default: model } });
    const chat = await chatWith(world);
    const { runId, pending } = await chat.say('Ask', { clientTools: [{ name: 'ask' }], instructions: 'First.' });
    await chat.say('Something else', { instructions: 'Second.', ...more });
    const callId = pending[0]?.callId ?? '';
    await answer(world.services, { runId, callId, answer: { result: 1 }, by: { key: true } });
    await world.idle();
    expect(model.requests.map(systemOf)).toEqual(['First.', 'Second.', 'First.']);
    const runs = world.store.db.selectFrom('runs').select('settings').where('thread_id', '=', chat.contextId);
    const [last] = await runs.orderBy('number', 'desc').limit(1).execute();
    expect(fromJson(last?.settings ?? '')).toEqual({ clientTools: [{ name: 'ask' }], instructions: 'First.' });
  });

  test.each(['in one request', 'in two requests', 'in two requests, the first of which is repeated'])(
    'calls of two client tools continue the turn when both are answered, %s',
    async (how) => {
      const model = scriptedModel([[call('one'), call('two')], 'Both.']);
      const world = await open({ models: { default: model } });
      const chat = await chatWith(world);
      const { pending } = await chat.say('Go', { clientTools: [{ name: 'one' }, { name: 'two' }] });
      const [one = '', two = ''] = pending.map(({ callId }) => callId);
      const [first, second] = [{ [one]: { result: 'ONE' } }, { [two]: { error: 'TWO' } }];
      if (how !== 'in one request') {
        expect(await chat.turn({ answers: first })).toMatchObject({ stop: { reason: 'suspended' } });
        expect(model.requests).toHaveLength(1);
      }
      const rest = how === 'in two requests' ? second : { ...first, ...second };
      expect((await chat.turn({ answers: rest })).response).toBe('Both.');
      expect(model.requests).toHaveLength(2);
      expect(resultsOf(model.requests[1] ?? { prompt: [] }).map(({ text }) => text)).toEqual([
        expect.stringContaining('ONE'),
        expect.stringContaining('TWO'),
      ]);
    },
  );
});
