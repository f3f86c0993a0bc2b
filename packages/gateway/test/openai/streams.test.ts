import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { describeOpenAi } from './openai-gateway.ts';
import { add, finishWith } from './sum-tools.ts';

const call = (toolName: string, input: object) => ({ toolName, input });
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const user = (content: string) => ({ role: 'user' as const, content });

describeOpenAi('streamed chat completions', (open) => {
  test('[S11] the deltas of a streamed answer add up to the whole, with its usage if requested', async () => {
    const model = scriptedModel([[call('add', { a: 1, b: 2 })], 'It is three.']);
    const { client, world } = await open({ models: { default: model }, tools: { add } });
    await world.agent('Adder', { tools: ['add'] });
    const stream = await client.chat.completions.create({
      model: 'Adder',
      messages: [user('Add.')],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await all(stream);
    const texts = chunks.map(({ choices }) => choices[0]?.delta.content ?? '');
    expect(texts.join('')).toBe('It is three.');
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(chunks.at(-2)).toMatchObject({
      choices: [{ delta: {}, finish_reason: 'stop' }],
      stop: { reason: 'end_turn', by: 'text' },
    });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test("[S11] the client's own .stream() reads an answer that ends with a terminal tool", async () => {
    const model = scriptedModel([[call('finish_with', { total: 3 })]]);
    const { client, world } = await open({ models: { default: model }, tools: { finish_with: finishWith } });
    await world.agent('Closer', { tools: ['finish_with'] });
    const runner = client.chat.completions.stream({ model: 'Closer', messages: [user('Go.')] });
    expect(JSON.parse((await runner.finalContent()) ?? '')).toEqual({ total: 3 });
    expect((await runner.finalChatCompletion()).choices[0]?.finish_reason).toBe('stop');
  });

  test('a run that fails while it is streamed is an error for the client, and not a normal end', async () => {
    const model = scriptedModel([
      () => {
        throw new Error('The provider is gone.');
      },
    ]);
    const { client, world } = await open({ models: { default: model } });
    await world.agent('Broken');
    const stream = await client.chat.completions.create({ model: 'Broken', messages: [user('Hi')], stream: true });
    await expect(all(stream)).rejects.toMatchObject({ code: 'run_failed', type: 'server_error' });
  });

  test('a gateway that stops while it streams is an error for the client, and not a normal end', async () => {
    const began = Promise.withResolvers<void>();
    const hold = Promise.withResolvers<void>();
    const model = scriptedModel([
      async () => {
        began.resolve();
        await hold.promise;
        return 'Late.';
      },
    ]);
    const { client, world, stop } = await open({ models: { default: model } });
    await world.agent('Slow');
    const stream = await client.chat.completions.create({ model: 'Slow', messages: [user('Hi')], stream: true });
    await began.promise;
    const read = all(stream);
    stop();
    await expect(read).rejects.toMatchObject({ code: 'stream_interrupted' });
    hold.resolve();
    await world.idle();
  });

  test('[S11] the events of a response are numbered from 0 in the order in which they are sent, also the one that reports an early end', async () => {
    const hold = Promise.withResolvers<void>();
    const model = scriptedModel([() => hold.promise.then(() => 'Late.')]);
    const { client, world, stop } = await open({ models: { default: model } });
    const agent = await world.agent();
    const response = await client.responses.create({ model: agent, input: 'Hi', stream: true }).asResponse();
    while (model.requests.length === 0) await new Promise(setImmediate);
    stop();
    const numbers = [...(await response.text()).matchAll(/"sequence_number":(\d+)/g)].map(([, number]) =>
      Number(number),
    );
    expect(numbers).toEqual([0, 1, 2]);
    hold.resolve();
    await world.idle();
  });
});
