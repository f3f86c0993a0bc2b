import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type OpenAI from 'openai';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeOpenAi } from './openai-gateway.ts';
import { add } from './sum-tools.ts';

const call = (toolName: string, input: object) => ({ toolName, input });
const user = (content: string) => ({ role: 'user' as const, content });

const locate: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'locate',
    description: 'Says where somebody is.',
    parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
  },
};

/** The agent's first message, with its call of the caller's tool. */
async function firstMessage(client: OpenAI, model: string): Promise<OpenAI.ChatCompletionMessage> {
  const { choices } = await client.chat.completions.create({ model, messages: [user('Where?')], tools: [locate] });
  const [{ message } = {}] = choices;
  if (message === undefined) throw new Error('There is no message.');
  return message;
}

describeOpenAi("the caller's own tools", (open) => {
  test('[S11] a call of a tool of the caller is sent to the caller, and its answer continues the run', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.', 'Still in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const messages: ChatCompletionMessageParam[] = [user('Where is Ada?')];
    const asked = await client.chat.completions.create({ model: agent, messages, tools: [locate] });
    const [choice] = asked.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'locate', arguments: '{"of":"Ada"}' } }],
      },
    });
    if (choice === undefined) throw new Error('There is no choice.');
    messages.push(choice.message, {
      role: 'tool',
      tool_call_id: choice.message.tool_calls?.[0]?.id ?? '',
      content: 'Ulm',
    });
    const answered = await client.chat.completions.create({ model: agent, messages, tools: [locate] });
    expect(answered.choices[0]?.message.content).toBe('Ada is in Ulm.');
    // The conversation continues where it was.
    messages.push({ role: 'assistant', content: 'Ada is in Ulm.' }, user('And now?'));
    const third = await client.chat.completions.create({ model: agent, messages, tools: [locate] });
    expect(third).toMatchObject({ context_id: (asked as { context_id?: string }).context_id });
    expect(model.requests.at(-1)?.prompt.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  test("[S11] the client's own runTools loop runs a tool of the caller", async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model: agent,
      stream: true,
      messages: [user('Where is Ada?')],
      tools: [
        {
          type: 'function',
          function: {
            name: 'locate',
            description: 'Says where somebody is.',
            parameters: { type: 'object', properties: { of: { type: 'string' } } },
            parse: JSON.parse,
            function: (input: object) => {
              asked.push(input);
              return 'Ulm';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('Ada is in Ulm.');
    expect(asked).toEqual([{ of: 'Ada' }]);
  });

  test.each([
    { named: 'by name', choice: { type: 'function', function: { name: 'locate' } } },
    { named: 'as the only tool', choice: 'required' },
  ] as const)(
    '[S11] the model has to call the tool of the caller that tool_choice means $named, once',
    async ({ choice }) => {
      const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.']);
      const { client, world } = await open({ models: { default: model } });
      const agent = await world.agent('Finder');
      const messages: ChatCompletionMessageParam[] = [user('Ada')];
      const asked = await client.chat.completions.create({
        model: agent,
        messages,
        tools: [locate],
        tool_choice: choice,
      });
      expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
      expect(model.requests[0]?.toolChoice).toEqual({ type: 'tool', toolName: 'locate' });
      const { message } = asked.choices[0] ?? {};
      if (message === undefined) throw new Error('There is no message.');
      messages.push(message, { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id ?? '', content: 'Ulm' });
      const answered = await client.chat.completions.create({ model: agent, messages });
      expect(answered.choices[0]?.message.content).toBe('Ada is in Ulm.');
      // Otherwise the model could only call the tool again.
      expect(model.requests[1]?.toolChoice).toBeUndefined();
    },
  );

  test('[S11] a response has the call of the tool that tool_choice names', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })]]);
    const { client, world } = await open({ models: { default: model } });
    const { name = '', parameters = {} } = locate.type === 'function' ? locate.function : {};
    const asked = await client.responses.create({
      model: await world.agent('Finder'),
      input: 'Ada',
      tools: [{ type: 'function', name, parameters, strict: false }],
      tool_choice: { type: 'function', name },
    });
    expect(asked.output).toMatchObject([{ type: 'function_call', name, arguments: '{"of":"Ada"}' }]);
    expect(model.requests[0]?.toolChoice).toEqual({ type: 'tool', toolName: name });
  });

  test('[S11] a tool_choice that the run could not keep is refused, and no model is asked', async () => {
    const model = scriptedModel([]);
    const { client, world } = await open({ models: { default: model }, tools: { add } });
    const agent = await world.agent('Finder', { tools: ['add'] });
    const other = { type: 'function' as const, function: { name: 'other' } };
    const ask = (fields: object, headers = {}) =>
      client.chat.completions.create({ model: agent, messages: [user('Where?')], ...fields }, { headers });
    const named = (name: string) => ({ type: 'function', function: { name } });
    const refusal = { status: 400, param: 'tool_choice' };
    await expect(ask({ tools: [locate, other], tool_choice: 'required' })).rejects.toMatchObject(refusal);
    await expect(ask({ tools: [locate], tool_choice: named('add') })).rejects.toMatchObject(refusal);
    await expect(ask({ tools: [locate], tool_choice: { type: 'function' } })).rejects.toMatchObject(refusal);
    await expect(ask({ tool_choice: 'required' })).rejects.toMatchObject(refusal);
    const forced = { tools: [locate], tool_choice: named('locate') };
    await expect(ask(forced, { 'X-Lastcall-Effects': 'none' })).rejects.toMatchObject(refusal);
    expect(model.requests).toEqual([]);
  });

  test('an answer that was given before is repeated, and another one is refused', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const message = await firstMessage(client, agent);
    const answer = (content: string) => ({
      model: agent,
      messages: [
        user('Where?'),
        message,
        { role: 'tool' as const, tool_call_id: message.tool_calls?.[0]?.id ?? '', content },
      ],
    });
    expect((await client.chat.completions.create(answer('Ulm'))).choices[0]?.message.content).toBe('Ada is in Ulm.');
    expect((await client.chat.completions.create(answer('Ulm'))).choices[0]?.message.content).toBe('Ada is in Ulm.');
    await expect(client.chat.completions.create(answer('Bonn'))).rejects.toMatchObject({
      status: 409,
      code: 'already_answered',
    });
    expect(model.requests).toHaveLength(2);
  });

  test('[S11] a request that is sent again, and a response that is read again, have their calls also after these were answered', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })], [call('locate', { of: 'Bob' })], 'Both are in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const messages: ChatCompletionMessageParam[] = [user('Where are they?')];
    const ask = async (key: string, said: ChatCompletionMessageParam[]) =>
      (
        await client.chat.completions.create(
          { model: agent, messages: said, tools: [locate] },
          { headers: { 'Idempotency-Key': key } },
        )
      ).choices;
    const answered = (choices: Awaited<ReturnType<typeof ask>>): ChatCompletionMessageParam[] =>
      choices.flatMap(({ message }) => [
        message,
        { role: 'tool' as const, tool_call_id: message.tool_calls?.[0]?.id ?? '', content: 'Ulm' },
      ]);
    const first = await ask('step-1', messages);
    const afterFirst = [...messages, ...answered(first)];
    const second = await ask('step-2', afterFirst);
    // A later step waits for another call.
    expect(await ask('step-1', messages)).toEqual(first);
    const third = await ask('step-3', [...afterFirst, ...answered(second)]);
    expect(third[0]?.message.content).toBe('Both are in Ulm.');
    expect(await ask('step-1', messages)).toEqual(first);
    expect(await ask('step-2', afterFirst)).toEqual(second);
    expect(model.requests).toHaveLength(3);
  });

  test('[S11] a response that continued others shows the calls that it left unanswered, also when they are answered', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' }), call('locate', { of: 'Bob' })], 'Both are in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const tools = [{ type: 'function' as const, name: 'locate', parameters: { type: 'object' }, strict: false }];
    const first = await client.responses.create({ model: agent, input: 'Where are they?', tools });
    const [ada, bob] = first.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const give = (callId = '') =>
      client.responses.create({
        model: agent,
        tools,
        input: [{ type: 'function_call_output', call_id: callId, output: 'Ulm' }],
      });
    const half = await give(ada?.call_id);
    expect(half.output).toEqual([bob]);
    expect((await give(bob?.call_id)).output_text).toBe('Both are in Ulm.');
    expect((await client.responses.retrieve(half.id)).output).toEqual([bob]);
    expect((await client.responses.retrieve(first.id)).output).toEqual([ada, bob]);
  });

  test('two different outputs for one call in one request are refused, and the call still waits', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const message = await firstMessage(client, agent);
    const answered = (...contents: string[]) => {
      const tool_call_id = message.tool_calls?.[0]?.id ?? '';
      const outputs = contents.map((content) => ({ role: 'tool' as const, tool_call_id, content }));
      return client.chat.completions.create({ model: agent, messages: [user('Where?'), message, ...outputs] });
    };
    await expect(answered('Ulm', 'Bonn')).rejects.toMatchObject({ status: 400, param: 'messages[3].tool_call_id' });
    expect((await answered('Ulm', 'Ulm')).choices[0]?.message.content).toBe('Ada is in Ulm.');
  });

  test('a turn with two calls of the caller continues when both are answered', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' }), call('locate', { of: 'Bob' })], 'Both are in Ulm.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const message = await firstMessage(client, agent);
    const answers = (message.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'Ulm',
    }));
    expect(answers).toHaveLength(2);
    const half = await client.chat.completions.create({
      model: agent,
      messages: [user('Where?'), message, ...answers.slice(0, 1)],
    });
    expect(half.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: answers[1]?.tool_call_id }] },
    });
    const whole = await client.chat.completions.create({
      model: agent,
      messages: [user('Where?'), message, ...answers],
    });
    expect(whole.choices[0]?.message.content).toBe('Both are in Ulm.');
    expect(model.requests).toHaveLength(2);
  });

  test("a call of the agent's own tool that waits for approval is reported as text, and the caller cannot answer it", async () => {
    let paid = 0;
    const pay = tool({
      description: 'Pays.',
      inputSchema: z.object({}),
      approval: true,
      execute: () => ++paid,
    });
    const model = scriptedModel([[call('pay', {})]]);
    const { client, world } = await open({ models: { default: model }, tools: { pay } });
    await world.agent('Payer', { tools: ['pay'] });
    const asked = await client.chat.completions.create({ model: 'Payer', messages: [user('Pay.')] });
    expect(asked).toMatchObject({
      stop: { reason: 'suspended' },
      pending_calls: [{ tool_name: 'pay', kind: 'approval' }],
    });
    expect(asked.choices[0]?.message.content).toContain('approval of pay');
    const { pending_calls: pending } = asked as unknown as { pending_calls: { tool_call_id: string }[] };
    const forged = client.chat.completions.create({
      model: 'Payer',
      messages: [user('Pay.'), { role: 'tool', tool_call_id: pending[0]?.tool_call_id ?? '', content: 'approved' }],
    });
    await expect(forged).rejects.toMatchObject({ status: 400, param: 'messages[1].tool_call_id' });
    expect(paid).toBe(0);
  });
});
