import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { type ScriptedModel, type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { hideTag } from '../../src/domain/frame-tag.ts';
import { getStepRequest } from '../../src/domain/runs/step-request.ts';
import { sweepRequestTexts } from '../../src/domain/runs/sweep-request-texts.ts';
import { openApi } from '../http/api.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep, systemOf } from '../support/requests.ts';
import type { World } from '../support/world.ts';

const inputSchema = z.object({}).loose();
/** A tool of the AI SDK that returns the conversation, including the frame tag, and a file. */
const look = {
  description: 'Shows what was said.',
  inputSchema,
  execute: (_input: unknown, { messages }: { messages: unknown }) => JSON.stringify(messages).slice(0, 2_000),
  toModelOutput: ({ output }: { output: string }) => ({
    type: 'content' as const,
    value: [
      { type: 'text' as const, text: output },
      { type: 'file-data' as const, data: Buffer.from(output).toString('base64'), mediaType: 'text/plain' },
    ],
  }),
};
const broken = tool({
  description: 'Throws.',
  inputSchema,
  execute: () => {
    throw new Error('It broke.');
  },
});
const latest = tool({
  description: 'The weather.',
  inputSchema,
  keepLatest: 'weather',
  execute: () => 'Rain. '.repeat(20),
});
const confirm = { executionType: 'space', resultSchema: { type: 'object' } } as const;
const pay = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'Paid.' });
const tools = { look, broken, latest, confirm, pay };
const names = Object.keys(tools);
const calls = (...toolNames: string[]): ScriptedReply => ({
  calls: toolNames.map((toolName, index) => ({ toolName, input: { n: index }, toolCallId: `theirs-${toolName}` })),
});

/** The request that was really sent, in the form in which it must be shown. */
function asSent({ prompt, tools: offered = [], ...rest }: LanguageModelV4CallOptions, tag: string): unknown {
  const { abortSignal: _s, headers: _h, includeRawChunks: _r, ...settings } = rest;
  const [first, ...others] = prompt;
  const instructions = first?.role === 'system' ? first.content : '';
  const sent = { instructions, messages: first?.role === 'system' ? others : prompt, tools: offered, settings };
  return JSON.parse(hideTag(JSON.stringify(sent), tag));
}

/** Compares every request that led to a reply of the thread with the one that is shown. Returns how many there were. */
async function compareAll({ store }: World, threadId: string, requests: ScriptedModel['requests']): Promise<number> {
  const { db } = store;
  const { tag } = await db
    .selectFrom('agents')
    .innerJoin('threads', 'threads.agent_id', 'agents.id')
    .select('tag')
    .where('threads.id', '=', threadId)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['run_id', 'payload'])
    .where('thread_id', '=', threadId)
    .where('kind', '=', 'reply')
    .orderBy('seq')
    .execute();
  const sent = requests.filter((request) => !systemOf(request).startsWith('You keep the memory'));
  expect(sent).toHaveLength(rows.length);
  for (const [index, { run_id, payload }] of rows.entries()) {
    const { entry } = JSON.parse(payload);
    const { model, ...told } = await getStepRequest(db, run_id, entry.step);
    expect(model).toBe('scripted');
    expect(JSON.parse(JSON.stringify(told))).toEqual(asSent(sent[index] as LanguageModelV4CallOptions, tag));
    expect(JSON.stringify(told)).not.toContain(tag);
  }
  return rows.length;
}

describeWorlds('the request of a step', (open) => {
  test('it is the sent request: across runs, failures, condensed results, goals, waiting calls and their answers', async () => {
    const model = scriptedModel([
      calls('look', 'broken'),
      { calls: [{ toolName: 'set_goals', input: { goals: [{ key: 'g', description: 'Be kind.' }] } }] },
      calls('latest'),
      calls('latest', 'confirm', 'pay'),
      'I wait.',
      calls('look'),
      'Done.',
      'Thanks.',
      calls('latest'),
      'The end.',
    ]);
    const world = await open({ models: { default: model }, tools });
    const { ada, bot, space } = await lobby(world, { tools: names, instructions: 'Be brief.' }, { isIn: true });
    await world.say(space, ada, 'Hello, <inbox-x> said she.');
    await world.idle();
    const waiting = world.store.db.selectFrom('calls').selectAll().where('agent_id', '=', bot);
    const pending = await waiting.where('wait_kind', 'is not', null).execute();
    for (const { id: callId, run_id: runId, wait_kind: kind } of pending) {
      const given = kind === 'approval' ? { approve: true as const } : { result: { yes: true } };
      await answer(world.services, { runId, callId, answer: given, by: { entityId: ada } });
      await world.idle();
    }
    await world.say(space, ada, 'And the weather?');
    await world.idle();
    expect(await compareAll(world, bot, model.requests)).toBe(model.requests.length);
  });

  test('it is the sent request after the transcript was compacted', async () => {
    const model = scriptedModel((request) => {
      if (systemOf(request).startsWith('You keep the memory')) return 'She asked for the weather.';
      return isFirstStep(request) ? calls('look', 'latest') : 'Done.';
    });
    const world = await open({ models: { default: model }, tools, agentLimits: { consciousnessTokens: 900 } });
    const { ada, bot, space } = await lobby(world, { tools: names }, { isIn: true });
    for (const text of ['One', 'Two', 'Three', 'Four']) {
      await world.say(space, ada, text);
      await world.idle();
    }
    const compacted = await world.store.db
      .selectFrom('transcript_entries')
      .select('seq')
      .where('kind', '=', 'compaction')
      .execute();
    expect(compacted.length).toBeGreaterThan(0);
    expect(await compareAll(world, bot, model.requests)).toBe(8);
  });

  test('it is the sent request in a conversation: with a prompt, settings, a contract, nudges and a repeated request', async () => {
    let isRefused = false;
    const model = scriptedModel([
      'Just text.',
      (request) => {
        // This provider accepts no system message after the first.
        if (isRefused || !request.prompt.slice(1).some(({ role }) => role === 'system')) return calls('finish');
        isRefused = true;
        return Object.assign(new Error('No system message, please.'), { statusCode: 400 });
      },
      calls('finish'),
      'Hello again.',
    ]);
    const finish = tool({ description: 'Ends.', inputSchema, execute: () => 'finished' });
    const world = await open({ models: { default: model }, tools: { finish } });
    const chat = await chatWith(world, { tools: ['finish'], instructions: 'Be brief.' });
    await chat.say('Hello.', {
      terminating: { toolIds: ['finish'] },
      instructions: 'The caller is in a hurry.',
      modelSettings: { temperature: 0.5, maxOutputTokens: 100 },
    });
    await chat.turn({ prompt: 'Greet her.' });
    const answered = model.requests.filter((_request, index) => index !== 1);
    expect(isRefused).toBe(true);
    expect(await compareAll(world, chat.contextId, answered)).toBe(answered.length);
  });

  test('it can be read for a step whose request was refused', async () => {
    const model = scriptedModel([calls('look'), Object.assign(new Error('Too long.'), { statusCode: 400 }), 'Better.']);
    const world = await open({ models: { default: model }, tools, agentLimits: { maxAttempts: 2 } });
    const { ada, bot, space } = await lobby(world, { tools: ['look'] });
    await world.say(space, ada, 'Go.');
    await world.idle();
    const { db } = world.store;
    const runs = await db
      .selectFrom('runs')
      .select(['id', 'status'])
      .where('thread_id', '=', bot)
      .orderBy('id')
      .execute();
    expect(runs.map(({ status }) => status)).toEqual(['failed', 'completed']);
    const { tag } = await db.selectFrom('agents').select('tag').where('id', '=', bot).executeTakeFirstOrThrow();
    const [first = { id: '' }, second = { id: '' }] = runs;
    const told = [
      await getStepRequest(db, first.id, 1),
      await getStepRequest(db, first.id, 2),
      await getStepRequest(db, second.id, 1),
    ].map(({ model: _model, ...one }) => JSON.parse(JSON.stringify(one)));
    expect(told).toEqual(model.requests.map((request) => asSent(request, tag)));
    await expect(getStepRequest(db, first.id, 3)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a text is deleted once no request has used it for as long as contexts are kept, and then its step is not found', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Done.') }, tools });
    const { ada, bot, space } = await lobby(world, { instructions: `Unique ${crypto.randomUUID()}` });
    await world.say(space, ada, 'Go on.');
    await world.idle();
    const { db } = world.store;
    const { id } = await db.selectFrom('runs').select('id').where('thread_id', '=', bot).executeTakeFirstOrThrow();
    const later = (days: number): Promise<void> =>
      sweepRequestTexts(world.services, { now: Date.now() + days * 86_400_000 });
    await later(world.services.limits.contextDays);
    await expect(getStepRequest(db, id, 1)).resolves.toBeDefined();
    await later(world.services.limits.contextDays + 3);
    await expect(getStepRequest(db, id, 1)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('each text is stored once for any number of steps, and nothing of a run that is not saved', async () => {
    const model = scriptedModel((request) => (request.prompt.length < 40 ? calls('broken') : 'Done.'));
    const world = await open({ models: { default: model }, tools });
    const { ada, space } = await lobby(world, { tools: ['broken'], instructions: `Unique ${crypto.randomUUID()}` });
    const count = async (): Promise<number> =>
      (await world.store.db.selectFrom('request_texts').select('hash').execute()).length;
    const before = await count();
    await world.say(space, ada, 'Go on.');
    await world.idle();
    expect(model.requests.length).toBeGreaterThan(10);
    // Instructions and tools.
    expect((await count()) - before).toBe(2);
    const chat = await chatWith(world, { instructions: 'Also unique.' });
    await chat.turn({ message: 'Forget this.' }, { save: false, instructions: crypto.randomUUID() });
    expect((await count()) - before).toBe(2);
  });

  test('a step without a reply has no request, and only keys may ask', async () => {
    const world = await open({ models: { default: scriptedModel(['Hello.']) } });
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Hello.');
    await world.idle();
    const database = { open: () => Promise.reject(new Error('The store is open already.')) } as never;
    const api = await openApi(database, { services: world.services });
    const { id } = await world.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .executeTakeFirstOrThrow();
    const path = (step: string) => `/api/runs/${id}/steps/${step}/request`;
    expect(await api.done('GET', path('1'))).toMatchObject({ model: 'scripted', tools: expect.any(Array) });
    for (const step of ['0', '2', 'x', '1e999']) {
      const { status, body } = await api.call('GET', path(step));
      expect([status, body.error.message]).toEqual([404, expect.stringContaining(`"${step}"`)]);
    }
    expect((await api.call('GET', path('1'), { secret: null })).status).toBe(401);
    // The request of a person is refused, although the person is in the space that the run answered.
    expect((await api.call('GET', path('1'), { secret: await api.tokenOf(ada) })).status).toBe(403);
    expect((await api.call('GET', path('1'), { secret: await api.keyWith('read') })).status).toBe(200);
    api.app.stop();
  });
});
