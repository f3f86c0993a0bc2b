import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { findResponse } from '../../src/transport/openai/find-response.ts';
import { fromResponseId } from '../../src/transport/openai/responses-request.ts';
import { textsOf } from '../support/requests.ts';
import { describeOpenAi } from './openai-gateway.ts';

const call = (toolName: string, input: object) => ({ toolName, input });

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const locate = {
  type: 'function' as const,
  name: 'locate',
  description: 'Says where somebody is.',
  parameters: { type: 'object', properties: { of: { type: 'string' } } },
  strict: false,
};

/** Leaves the stream after its first event. */
async function idOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<string> {
  for await (const event of stream) if (event.type === 'response.created') return event.response.id;
  throw new Error('The stream has no response.');
}

describeOpenAi('responses', (open) => {
  test('[S11] the official client creates a response, and continues from it by its id', async () => {
    const model = scriptedModel([[call('add', { a: 1, b: 2 })], 'It is 3.', 'It was 3.', 'Another way.']);
    const { client, world } = await open({ models: { default: model }, tools: { add } });
    const agent = await world.agent('Adder', { tools: ['add'] });
    const first = await client.responses.create({ model: agent, instructions: 'Be brief.', input: 'Add 1 and 2.' });
    expect(first).toMatchObject({ object: 'response', status: 'completed', output_text: 'It is 3.' });
    // The client's types require these.
    expect(first).toMatchObject({ access_programs: null, usage: { input_tokens_details: { cache_write_tokens: 0 } } });
    const second = await client.responses.create({
      model: agent,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'What was it?' }] }],
      previous_response_id: first.id,
    });
    expect(second).toMatchObject({ output_text: 'It was 3.', previous_response_id: first.id });
    expect(second.conversation).toEqual(first.conversation);
    expect(model.requests[2]?.prompt.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    // From the first response again: its conversation has continued since, so this is a new one with the same beginning.
    const branch = await client.responses.create({ model: agent, input: 'Once more.', previous_response_id: first.id });
    expect(branch.conversation).not.toEqual(first.conversation);
    expect(textsOf(model.requests[3]?.prompt ?? [])).toEqual(['Add 1 and 2.', 'Once more.']);
  });

  test('[S11] a response that was not stored, or whose run has not ended, cannot be continued', async () => {
    const hold = Promise.withResolvers<void>();
    const model = scriptedModel(async ({ prompt }) => {
      if (textsOf(prompt).at(-1) !== 'Work.') return 'Next.';
      await hold.promise;
      return 'Done.';
    });
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const continued = (id: string) =>
      client.responses.create({ model: agent, input: 'What is my name?', previous_response_id: id });
    const refusal = { status: 400, param: 'previous_response_id' };
    const unsaved = await client.responses.create({ model: agent, input: 'I am Ada.', store: false });
    await expect(continued(unsaved.id)).rejects.toMatchObject(refusal);
    const stream = await client.responses.create({ model: agent, input: 'Work.', stream: true });
    let id = '';
    for await (const event of stream) {
      if (event.type !== 'response.created') continue;
      id = event.response.id;
      while (model.requests.length < 2) await new Promise(setImmediate);
      await expect(continued(id)).rejects.toMatchObject(refusal);
      hold.resolve();
    }
    expect((await continued(id)).output_text).toBe('Next.');
    expect(textsOf(model.requests[2]?.prompt ?? [])).toEqual(['Work.', 'What is my name?']);
  });

  test('[S11] a response that is read later names the response that it continued', async () => {
    const hold = Promise.withResolvers<void>();
    const model = scriptedModel(async ({ prompt }) => {
      if (textsOf(prompt).at(-1) === 'Work.') await hold.promise;
      return textsOf(prompt).at(-1) === 'Where is Ada?' ? call('locate', { of: 'Ada' }) : 'Done.';
    });
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const previousOf = async ({ id }: { id: string }) => (await client.responses.retrieve(id)).previous_response_id;
    const first = await client.responses.create({ model: agent, input: 'Hi.' });
    const asking = await client.responses.create({
      model: agent,
      input: 'Where is Ada?',
      tools: [locate],
      previous_response_id: first.id,
    });
    const [item] = asking.output;
    if (item?.type !== 'function_call') throw new Error('There is no call.');
    const output = { type: 'function_call_output' as const, call_id: item.call_id, output: 'Ulm' };
    // It continues the turn that asked, but it continued no response.
    const answered = await client.responses.create({ model: agent, input: [output] });
    const after = { model: agent, previous_response_id: answered.id, stream: true } as const;
    const working = await idOf(await client.responses.create({ ...after, input: 'Work.' }));
    const queued = await idOf(
      await client.responses.create({
        model: agent,
        conversation: first.conversation?.id ?? '',
        input: 'Next.',
        stream: true,
      }),
    );
    const branch = await client.responses.create({
      model: agent,
      input: 'Another way.',
      previous_response_id: first.id,
    });
    expect(await previousOf(first)).toBeNull();
    expect(await previousOf(asking)).toBe(first.id);
    expect(await previousOf(answered)).toBeNull();
    expect(await previousOf({ id: working })).toBe(answered.id);
    expect(await previousOf({ id: queued })).toBeNull();
    expect(await previousOf(branch)).toBe(first.id);
    hold.resolve();
    await world.idle();
    expect(await previousOf({ id: working })).toBe(answered.id);
  });

  test.each([{ by: 'a key' }, { by: 'a token' }])(
    '[S11] a response to $by repeats its request, and is the same when it is read later',
    async ({ by }) => {
      const model = scriptedModel(['{"ok":true}', [call('locate', { of: 'Ada' })], 'Ada is in Ulm.', 'No tools.']);
      const gateway = await open({ models: { default: model } });
      const { world } = gateway;
      // The worlds of these tests share a database.
      const name = `Repeater for ${by}`;
      const agent = await world.agent(name);
      const bob = await world.person('Bob');
      await world.space('Room', [agent, bob]);
      const client = by === 'a key' ? gateway.client : gateway.clientWith({ apiKey: await gateway.tokenOf(bob) });
      const read = async <T extends { id: string }>(response: T): Promise<T> => {
        const { output_text: _text, ...again } = await client.responses.retrieve(response.id);
        expect(again).toEqual(JSON.parse(JSON.stringify({ ...response, output_text: undefined })));
        return response;
      };
      const first = await client.responses.create({
        model: agent,
        instructions: 'Be brief.',
        input: 'Is it well?',
        metadata: { order: '17' },
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 100,
        reasoning: { effort: 'low' },
        text: { format: { type: 'json_schema', name: 'state', schema: { type: 'object' } } },
      });
      expect(await read(first)).toMatchObject({
        model: agent,
        instructions: 'Be brief.',
        metadata: { order: '17' },
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 100,
        reasoning: { effort: 'low' },
        text: { format: { type: 'json_schema', name: 'state', schema: { type: 'object' } } },
        tools: [],
        tool_choice: 'auto',
      });
      const asking = await client.responses.create({
        model: name,
        input: 'Where is Ada?',
        tools: [locate],
        tool_choice: { type: 'function', name: 'locate' },
      });
      expect(await read(asking)).toMatchObject({
        model: name,
        instructions: null,
        metadata: {},
        temperature: null,
        tools: [locate],
        tool_choice: { type: 'function', name: 'locate' },
      });
      const [item] = asking.output;
      if (item?.type !== 'function_call') throw new Error('There is no call.');
      const output = { type: 'function_call_output' as const, call_id: item.call_id, output: 'Ulm' };
      // Its run has the tools of the run that asked, but it was asked for none.
      expect(await read(await client.responses.create({ model: agent, input: [output] }))).toMatchObject({ tools: [] });
      const uncalled = await client.responses.create({
        ...{ model: agent, input: 'Hi.', store: false },
        ...{ tools: [locate], tool_choice: 'none' },
      });
      expect(await read(uncalled)).toMatchObject({ tool_choice: 'none' });
      const tooMany = client.responses.create({ model: agent, input: 'Hi.', metadata: { order: 'x'.repeat(513) } });
      await expect(tooMany).rejects.toMatchObject({ status: 400, param: 'metadata.order' });
    },
  );

  test("[S11] a person is not shown the instructions of an operator's program in their conversation", async () => {
    const model = scriptedModel(['Hello.', 'You are owed 20 €.']);
    const { client, world, clientWith, tokenOf } = await open({ models: { default: model } });
    const agent = await world.agent();
    const bob = await world.person('Bob');
    await world.space('Room', [agent, bob]);
    const bobs = clientWith({ apiKey: await tokenOf(bob) });
    const { conversation } = await bobs.responses.create({ model: agent, input: 'Hi.' });
    const { id } = await client.responses.create({
      model: agent,
      instructions: 'Do not say that Bob is a bad customer.',
      input: 'Tell Bob what he is owed.',
      conversation: conversation?.id ?? '',
      metadata: { rating: 'bad' },
      tools: [locate],
    });
    expect(await client.responses.retrieve(id)).toMatchObject({
      instructions: expect.stringContaining('bad customer'),
    });
    const shown = await bobs.responses.retrieve(id);
    expect(shown).toMatchObject({ output_text: 'You are owed 20 €.', instructions: null, metadata: {}, tools: [] });
  });

  test('[S11] a reply that the client names by its id, as the AI SDK does, continues its conversation', async () => {
    const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.', 'Still in Ulm.', 'Hi.']);
    const { client, world, clientWith, tokenOf } = await open({ models: { default: model } });
    const agent = await world.agent();
    const user = (content: string) => ({ role: 'user' as const, content });
    const named = (id: string | undefined) => ({ type: 'item_reference' as const, id: id ?? '' });
    const asked = await client.responses.create({ model: agent, input: [user('Where is Ada?')], tools: [locate] });
    const [item] = asked.output;
    if (item?.type !== 'function_call') throw new Error('There is no call.');
    const output = { type: 'function_call_output' as const, call_id: item.call_id, output: 'Ulm' };
    const before = [user('Where is Ada?'), named(item.id), output];
    const answered = await client.responses.create({ model: agent, input: before });
    expect(answered.output_text).toBe('Ada is in Ulm.');
    const reply = named(answered.output[0]?.id ?? '');
    const third = await client.responses.create({ model: agent, input: [...before, reply, user('And now?')] });
    expect(third.conversation).toEqual(asked.conversation);
    const roles = model.requests[2]?.prompt.map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    // Without a conversation that matches, a new one begins, with the text of the reply.
    await client.responses.create({ model: agent, input: [user('Hello.'), reply, user('Who?')] });
    expect(JSON.stringify(model.requests[3]?.prompt[1]?.content)).toContain('Ada is in Ulm.');

    const bob = await world.person('Bob');
    await world.space('Room', [agent, bob]);
    const bobs = clientWith({ apiKey: await tokenOf(bob) });
    const refusal = { status: 400, param: 'input[1].id' };
    for (const id of [reply.id, 'msg_none', 'msg_\u0000', 'rs_1', ''])
      await expect(
        bobs.responses.create({ model: agent, input: [user('Hello.'), named(id), user('Who?')] }),
      ).rejects.toMatchObject(refusal);
    expect(model.requests).toHaveLength(4);
  });

  test('[S11] an input without a message is refused under its own name', async () => {
    const { client, world } = await open({ models: { default: scriptedModel([]) } });
    const model = await world.agent();
    for (const input of [' ', [{ role: 'system' as const, content: 'Be brief.' }]])
      await expect(client.responses.create({ model, input })).rejects.toMatchObject({
        status: 400,
        param: 'input',
        message: expect.stringContaining('that is not blank'),
      });
  });

  test('[S11] a conversation is continued by its id', async () => {
    const model = scriptedModel(['Hello.', 'Hello again.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const { conversation } = await client.responses.create({ model: agent, input: 'Hi' });
    const second = await client.responses.create({
      model: agent,
      input: 'Hi again',
      conversation: conversation?.id ?? '',
    });
    expect(second.output_text).toBe('Hello again.');
    expect(textsOf(model.requests[1]?.prompt ?? [])).toEqual(['Hi', 'Hi again']);
  });

  test("[S11] the client's own .stream() reads a response", async () => {
    const model = scriptedModel([[call('add', { a: 1, b: 2 })], 'It is 3.']);
    const { client, world } = await open({ models: { default: model }, tools: { add } });
    const agent = await world.agent('Adder', { tools: ['add'] });
    const stream = client.responses.stream({ model: agent, input: 'Add 1 and 2.' });
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const event of stream) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    expect(numbers).toEqual(types.map((_, index) => index));
    expect(types[0]).toBe('response.created');
    expect(types).toContain('response.output_text.delta');
    expect(types.at(-1)).toBe('response.completed');
    expect(await stream.finalResponse()).toMatchObject({ status: 'completed', output_text: 'It is 3.' });
  });

  test.each([{ isStream: false }, { isStream: true }])(
    '[S11] a tool of the caller is called and answered by call id (stream: $isStream)',
    async ({ isStream }) => {
      const model = scriptedModel([[call('locate', { of: 'Ada' })], 'Ada is in Ulm.']);
      const { client, world } = await open({ models: { default: model } });
      const agent = await world.agent();
      const ask = { model: agent, input: 'Where is Ada?', tools: [locate] };
      const asked = isStream ? await client.responses.stream(ask).finalResponse() : await client.responses.create(ask);
      const [item] = asked.output;
      expect(asked.output).toHaveLength(1);
      if (item?.type !== 'function_call') throw new Error('There is no call.');
      expect([item.name, item.arguments]).toEqual(['locate', '{"of":"Ada"}']);
      const answered = await client.responses.create({
        model: agent,
        previous_response_id: asked.id,
        input: [{ type: 'function_call_output', call_id: item.call_id, output: 'Ulm' }],
      });
      expect(answered.output_text).toBe('Ada is in Ulm.');
    },
  );

  test('[S11] a response whose client disconnected can be read by its id', async () => {
    const hold = Promise.withResolvers<void>();
    const model = scriptedModel([
      async () => {
        await hold.promise;
        return 'Done.';
      },
    ]);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Worker');
    const stream = await client.responses.create({ model: agent, input: 'Work.', stream: true });
    let id = '';
    for await (const event of stream)
      if (event.type === 'response.created') {
        id = event.response.id;
        break;
      }
    expect(await client.responses.retrieve(id)).toMatchObject({ id, status: 'in_progress', model: agent });
    hold.resolve();
    await world.idle();
    expect(await client.responses.retrieve(id)).toMatchObject({ id, status: 'completed', output_text: 'Done.' });
    // The client would read no event from the JSON, and end without an error.
    const followed = client.responses.retrieve(id, { stream: true });
    await expect(followed).rejects.toMatchObject({ status: 400, param: 'stream' });
    await expect(client.responses.retrieve('resp_none')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  test('[S11] a request that is repeated later is answered with the time of the first one', async () => {
    const { client, world } = await open({ models: { default: scriptedModel(['Hello.', 'Hi.']) } });
    const agent = await world.agent();
    const options = { headers: { 'Idempotency-Key': 'created-1' } };
    const response = { model: agent, input: 'Hi.' };
    const chat = { model: agent, messages: [{ role: 'user' as const, content: 'Hi.' }] };
    const ofChat = { headers: { 'Idempotency-Key': 'created-2' } };
    const { id, created_at } = await client.responses.create(response, options);
    const { created } = await client.chat.completions.create(chat, ofChat);
    // The times are whole seconds.
    while (Math.floor(Date.now() / 1_000) <= Math.max(created, created_at)) await new Promise(setImmediate);
    expect((await client.responses.create(response, options)).created_at).toBe(created_at);
    expect((await client.responses.retrieve(id)).created_at).toBe(created_at);
    expect((await client.chat.completions.create(chat, ofChat)).created).toBe(created);
  });

  test('[S11] a response that is under way or waits is cancelled, and one that has ended is answered as it is', async () => {
    const asked = Promise.withResolvers<void>();
    const model = scriptedModel(async ({ prompt, abortSignal }) => {
      if (textsOf(prompt).at(-1) === 'Hi.') return 'Hello.';
      asked.resolve();
      return await new Promise<string>((_, reject) => {
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
      });
    });
    const { client, world, clientWith, tokenOf } = await open({ models: { default: model } });
    const agent = await world.agent();
    const bob = await world.person('Bob');
    await world.space('Room', [agent, bob]);
    const bobs = clientWith({ apiKey: await tokenOf(bob) });
    const first = await client.responses.create({ model: agent, input: 'Hi.' });
    const conversation = first.conversation?.id ?? '';
    const start = async (input: string) =>
      await idOf(await client.responses.create({ model: agent, input, conversation, stream: true }));
    const working = await start('Work.');
    await asked.promise;
    const waiting = await start('And work.');
    await expect(bobs.responses.cancel(working)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    for (const id of [waiting, working]) {
      expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
      expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    }
    expect(await client.responses.cancel(first.id)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ text: 'Hello.' }] }],
    });
    expect(model.requests).toHaveLength(2);
  });

  test('[S11] what the gateway does not have of the API of OpenAI is refused with what to use instead', async () => {
    const { client, world } = await open({ models: { default: scriptedModel(['Hello.']) } });
    const { id } = await client.responses.create({ model: await world.agent(), input: 'Hi.' });
    const refused = async (asked: PromiseLike<unknown>): Promise<string> =>
      String(
        await asked.then(
          () => 'It was not refused.',
          ({ message }) => message,
        ),
      );
    expect(await refused(client.responses.delete(id))).toContain('DELETE /contexts/{context_id}');
    expect(await refused(client.responses.inputItems.list(id))).toContain('GET /contexts/{context_id}');
    for (const asked of [client.conversations.create({}), client.conversations.retrieve('conv_1')])
      expect(await refused(asked)).toContain('POST /v1/responses begins a conversation');
    for (const asked of [client.embeddings.create({ model: 'm', input: 'x' }), client.models.delete('Clerk')])
      expect(await refused(asked)).toContain('/v1/models, /v1/chat/completions and /v1/responses');
  });

  test('a response that was cut at the token limit is incomplete', async () => {
    const cutOff = { text: 'It is', finishReason: { unified: 'length' as const, raw: 'length' } };
    // The agent asks its model once more before it gives up.
    const model = scriptedModel([cutOff, cutOff, cutOff, cutOff]);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const cut = await client.responses.create({ model: agent, input: 'Tell me all.', max_output_tokens: 2 });
    expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(cut.output).toMatchObject([{ type: 'message', status: 'incomplete' }]);
    const stream = await client.responses.create({ model: agent, input: 'All.', max_output_tokens: 2, stream: true });
    for await (const event of stream)
      if (event.type === 'response.output_item.done') expect(event.item).toMatchObject({ status: 'incomplete' });
    expect(model.requests[0]?.maxOutputTokens).toBe(2);
  });

  test('a response that fails while it is streamed is an error for the client', async () => {
    const model = scriptedModel([
      () => {
        throw new Error('The provider is gone.');
      },
    ]);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const stream = await client.responses.create({ model: agent, input: 'Hi', stream: true });
    const read = async () => {
      for await (const _event of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: 'run_failed' });
  });

  test('while the store is unavailable, a response is not reported as missing', async () => {
    const { client, world } = await open({ models: { default: scriptedModel(['Hi.']) } });
    const { id } = await client.responses.create({ model: await world.agent(), input: 'Hi' });
    let queries = 0;
    const db = world.store.db.withPlugin({
      transformQuery({ node }) {
        if (++queries === 2) throw new StoreUnavailable(new Error('away'));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const asked = findResponse(db, fromResponseId(id), { kind: 'key', keyId: 'any' });
    await expect(asked).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
