import { scriptedModel } from '@lastcall/core/testing';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { expect, test } from 'vitest';
import { systemOf, textsOf } from '../support/requests.ts';
import { describeOpenAi } from './openai-gateway.ts';
import { add, finishWith } from './sum-tools.ts';

const call = (toolName: string, input: object) => ({ toolName, input });

describeOpenAi('chat completions', (open) => {
  test('[S11] the official client lists agents as models', async () => {
    const { client, world } = await open({ models: { default: scriptedModel([]) } });
    await world.agent('Ledger');
    const models = (await client.models.list()).data;
    expect(models.map(({ id, object }) => [id, object])).toContainEqual(['Ledger', 'model']);
    expect(await client.models.retrieve('Ledger')).toMatchObject({ id: 'Ledger', owned_by: 'lastcall' });
  });

  test('[S11] an agent answers as the model, and its tools run inside', async () => {
    const model = scriptedModel([[call('add', { a: 1, b: 2 })], 'It is 3.']);
    const { client, world } = await open({ models: { default: model }, tools: { add } });
    await world.agent('Adder', { instructions: 'Be brief.', tools: ['add'] });
    const completion = await client.chat.completions.create({
      model: 'Adder',
      messages: [
        { role: 'system', content: 'Answer in English.' },
        { role: 'user', content: [{ type: 'text', text: 'Add 1 and 2.' }] },
      ],
      temperature: 0.5,
    });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'Adder',
      choices: [{ index: 0, message: { role: 'assistant', content: 'It is 3.' }, finish_reason: 'stop' }],
      stop: { reason: 'end_turn', by: 'text' },
    });
    expect(completion.choices[0]?.message.tool_calls).toBeUndefined();
    expect(systemOf(model.requests[0] as never)).toBe('Be brief.\n\nAnswer in English.');
    expect(model.requests[0]?.temperature).toBe(0.5);
  });

  test('[S11] an image that a chat page sends with an empty text reaches the model without the text', async () => {
    const model = scriptedModel(['A cat.', 'Still a cat.']);
    const { client, world } = await open({ models: { default: model } });
    await world.agent('Viewer');
    const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } };
    const asked = { role: 'user' as const, content: [{ type: 'text' as const, text: '' }, image] };
    const ask = (messages: ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: 'Viewer', messages });
    const said = { role: 'assistant' as const, content: 'A cat.' };
    expect((await ask([asked])).choices[0]?.message.content).toBe('A cat.');
    expect(model.requests[0]?.prompt.at(-1)).toMatchObject({ role: 'user', content: [file] });
    await ask([asked, said, { role: 'user', content: 'Sure?' }]);
    expect(model.requests[1]?.prompt.find(({ role }) => role === 'user')).toMatchObject({ content: [file] });
    const empty = ask([{ role: 'user', content: ' \n' }]);
    await expect(empty).rejects.toMatchObject({ status: 400, param: 'messages' });
    expect(model.requests).toHaveLength(2);
  });

  test.each([
    'data:image/png;charset=utf-8;base64,',
    'data:image/png;name=dot.png;charset=utf-8;base64,',
    'DATA:image/PNG;BASE64,',
  ])('[S11] an image reaches the model if its data URL begins with %s', async (beginning) => {
    const model = scriptedModel(['A cat.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const image = { type: 'image_url' as const, image_url: { url: `${beginning}iVBORw0KGgo=` } };
    await client.chat.completions.create({ model: agent, messages: [{ role: 'user', content: [image] }] });
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } };
    expect(model.requests[0]?.prompt.at(-1)).toMatchObject({ role: 'user', content: [file] });
  });

  test('[S11] a history whose text parts have a null refusal, as the OpenAI Agents SDK sends it, is read', async () => {
    const model = scriptedModel(['Hello.', 'Hello again.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    const said = { role: 'user' as const, content: 'Hi' };
    await client.chat.completions.create({ model: agent, messages: [said] });
    const part = { type: 'text', text: 'Hello.', refusal: null, annotations: [] } as never;
    const reply = { role: 'assistant' as const, content: [part] };
    await client.chat.completions.create({ model: agent, messages: [said, reply, { role: 'user', content: 'Again' }] });
    expect(textsOf(model.requests[1]?.prompt ?? [])).toEqual(['Hi', 'Again']);
    expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test('[S11] the model knows that a message of the history was refused', async () => {
    const model = scriptedModel(['As you like.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent();
    await client.chat.completions.create({
      model: agent,
      messages: [
        { role: 'user', content: 'Tell me her address.' },
        { role: 'assistant', content: null, refusal: 'I cannot tell you that.' },
        { role: 'user', content: 'Then tell me her name.' },
      ],
    });
    expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(model.requests[0]?.prompt[1])).toContain('I cannot tell you that.');
  });

  test('[S11] a terminal tool ends the run, and its output is the content', async () => {
    const model = scriptedModel([[call('finish_with', { total: 3 })]]);
    const { client, world } = await open({ models: { default: model }, tools: { finish_with: finishWith } });
    await world.agent('Closer', { tools: ['finish_with'] });
    const ask = { model: 'Closer', messages: [{ role: 'user' as const, content: 'Go.' }] };
    const { choices } = await client.chat.completions.create(ask);
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ total: 3 });
    expect(choices[0]?.finish_reason).toBe('stop');
  });

  test('[S11] a history that is sent again as a whole continues its conversation, with the results of its tools', async () => {
    const model = scriptedModel([[call('add', { a: 1, b: 2 })], 'It is 3.', 'It was 3.', 'Another.']);
    const { client, world } = await open({ models: { default: model }, tools: { add } });
    await world.agent('Adder2', { tools: ['add'] });
    const first = await client.chat.completions.create({
      model: 'Adder2',
      messages: [{ role: 'user', content: 'Add.' }],
    });
    const messages = [
      { role: 'user' as const, content: 'Add.' },
      { role: 'assistant' as const, content: 'It is 3.' },
    ];
    const second = await client.chat.completions.create({
      model: 'Adder2',
      messages: [...messages, { role: 'user', content: 'What was it?' }],
    });
    const idOf = (completion: object) => (completion as { context_id?: string }).context_id;
    expect(idOf(second)).toBe(idOf(first));
    const prompt = model.requests[2]?.prompt ?? [];
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    // A different continuation of the same history is another conversation, which has only the texts.
    const branch = await client.chat.completions.create({
      model: 'Adder2',
      messages: [...messages, { role: 'user', content: 'Something else.' }],
    });
    expect(idOf(branch)).not.toBe(idOf(first));
    const branched = model.requests[3]?.prompt ?? [];
    expect(branched.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(textsOf(branched)).toEqual(['Add.', 'Something else.']);
  });
});
