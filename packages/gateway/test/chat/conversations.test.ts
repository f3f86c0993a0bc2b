import { pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { runEvents } from '../../src/runtime/chat/run-events.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { systemOf, textsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const call = (toolName: string, input: object) => ({ toolName, input });

function requireLast<T>(list: readonly T[]): T {
  const last = list.at(-1);
  if (last === undefined) throw new Error('The list is empty.');
  return last;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describeWorlds(
  'contexts',
  (open) => {
    test('[C6] a message is answered with text, and the model reads only the instructions and the messages', async () => {
      const model = scriptedModel(['Hello, Ada.', 'You said: I am Ada.']);
      const world = await open({ models: { default: model } });
      const chat = await chatWith(world, { instructions: 'Be brief.' });
      expect(await chat.say('I am Ada.')).toMatchObject({
        status: 'completed',
        stop: { reason: 'end_turn', by: 'text' },
        response: 'Hello, Ada.',
        messages: [
          { sender: 'human', message: 'I am Ada.' },
          { sender: 'ai', message: 'Hello, Ada.' },
        ],
      });
      expect((await chat.say('What did I say?')).response).toBe('You said: I am Ada.');
      const second = requireLast(model.requests);
      expect(systemOf(second)).toBe('Be brief.');
      expect(textsOf(second.prompt)).toEqual(['I am Ada.', 'What did I say?']);
      expect(second.tools?.map(({ name }) => name)).toEqual(['read_output']);
    });

    test('[C3] a registry tool that the agent does not have ends the run, and its output is the response', async () => {
      const model = scriptedModel([[call('add', { a: 1, b: 2 })], [call('complete_task', { result: '3' })]]);
      const world = await open({ models: { default: model }, tools: { add } });
      const chat = await chatWith(world, { tools: ['add'] });
      const answer = await chat.say('Add 1 and 2.', { terminating: { toolIds: ['complete_task'] } });
      expect(answer.response).toBe('Task completed: 3');
      expect(answer.stop).toEqual({ reason: 'end_turn', by: 'terminating', tool: 'complete_task' });
      expect(answer.messages.map((one) => ('type' in one ? one.type : one.sender))).toEqual([
        'human',
        'tool_call',
        'tool_response',
        'tool_call',
        'tool_response',
      ]);
    });

    test('the stream of a run has its text, its calls and its end, from the start or after any event', async () => {
      const model = scriptedModel([[call('add', { a: 1, b: 2 })], 'It is 3.']);
      const world = await open({ models: { default: model }, tools: { add } });
      const chat = await chatWith(world, { tools: ['add'] });
      const { runId } = await chat.start({ message: 'Add.' });
      const events = await all(runEvents(world.services, runId));
      const types = events.map(({ type }) => type);
      expect(types[0]).toBe('run.start');
      expect(types).toContain('tool-call.start');
      expect(types).toContain('tool-call.complete');
      expect(types.at(-1)).toBe('run.end');
      const text = events.flatMap(({ type, payload }) =>
        type === 'text.delta' ? [(payload as { delta: string }).delta] : [],
      );
      expect(text.join('')).toBe('It is 3.');
      const after = events[2]?.seq ?? 0;
      expect(await all(runEvents(world.services, runId, { after }))).toEqual(events.slice(3));
      expect((await awaitRun(world.services, runId)).response).toBe('It is 3.');
    });

    test('a call of a tool that the client runs suspends the turn, and its answer continues it', async () => {
      const model = scriptedModel([[call('locate', { of: 'me' })], 'You are in Ulm.']);
      const world = await open({ models: { default: model } });
      const chat = await chatWith(world);
      const asked = await chat.say('Where am I?', { clientTools: [{ name: 'locate' }] });
      expect(asked).toMatchObject({ stop: { reason: 'suspended' }, pending: [{ toolName: 'locate' }] });
      const callId = asked.pending[0]?.callId ?? '';
      const answer = await chat.turn({ answers: { [callId]: { result: 'Ulm' } } });
      expect(answer).toMatchObject({ response: 'You are in Ulm.', stop: { by: 'text' } });
      expect(answer.messages).toEqual([
        { type: 'tool_call', tool_call_id: callId, tool_name: 'locate', tool_input: { of: 'me' } },
        { type: 'tool_response', tool_call_id: callId, tool_output: 'Ulm' },
        { sender: 'ai', message: 'You are in Ulm.' },
      ]);
      const repeated = await chat.start({ answers: { [callId]: { result: 'Ulm' } } });
      expect(repeated).toEqual({ runId: answer.runId, contextId: chat.contextId, isRepeat: true });
      await expect(chat.start({ answers: { [callId]: { result: 'Bonn' } } })).rejects.toThrow('different answer');
    });

    test('the answer to a question of a tool continues the turn, and the same answer again is the same run', async () => {
      const model = scriptedModel([[call('greet', {})], 'Done.']);
      const greet = tool({
        description: 'Greets.',
        inputSchema: z.object({}),
        execute: (_, { answer }) => (answer === undefined ? pending({ asks: true }) : { answer }),
      });
      const world = await open({ models: { default: model }, tools: { greet } });
      const chat = await chatWith(world, { tools: ['greet'] });
      const asked = await chat.say('Greet me.');
      expect(asked).toMatchObject({ stop: { reason: 'suspended' }, pending: [{ toolName: 'greet', kind: 'input' }] });
      const input = { answers: { [asked.pending[0]?.callId ?? '']: { result: 'Ada' } } };
      const answer = await chat.turn(input);
      expect(answer).toMatchObject({ response: 'Done.' });
      expect(answer.messages).toContainEqual(expect.objectContaining({ tool_output: '{"answer":{"result":"Ada"}}' }));
      expect(await chat.start(input)).toEqual({ runId: answer.runId, contextId: chat.contextId, isRepeat: true });
    });

    test('[C10] the same idempotency key returns the first run and asks no model; with another body it is refused', async () => {
      const model = scriptedModel(() => 'Once.');
      const world = await open({ models: { default: model } });
      const chat = await chatWith(world);
      const identity = { key: 'k', bodyHash: 'one' };
      const [first, ...others] = await Promise.all(
        Array.from({ length: 5 }, () => chat.start({ message: 'Hi' }, { identity })),
      );
      expect(new Set(others.map(({ runId }) => runId))).toEqual(new Set([first?.runId]));
      await awaitRun(world.services, first?.runId ?? '');
      await world.idle();
      expect(model.requests).toHaveLength(1);
      const other = chat.start({ message: 'Ho' }, { identity: { key: 'k', bodyHash: 'two' } });
      await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    });
  },
  databases,
);
