import { scriptedModel } from '@lastcall/core/testing';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startTestGateway } from '../../src/testing/index.ts';

const limited = [{ name: 'Poet', instructions: 'Write poems.', limits: { spend: { perDayTokens: 1 } } }];
const messages = [{ role: 'user', content: 'A poem.' }] as const;

async function openLimited() {
  const model = scriptedModel(() => 'Roses.');
  const gateway = await startTestGateway({ model, agents: limited });
  const client = new OpenAI({ apiKey: gateway.secretKey, baseURL: `${gateway.url}/v1` });
  // The first request is sent, because nothing is spent yet.
  await client.chat.completions.create({ model: 'Poet', messages: [...messages] });
  return { model, gateway, client };
}

test('[K12] /v1 answers a request that a spend limit stops with an error, and the client does not retry', async () => {
  const { model, gateway, client } = await openLimited();
  await using _gateway = gateway;
  const expected = { status: 402, code: 'insufficient_quota', type: 'insufficient_quota' };
  let asked = 0;
  const counting = new OpenAI({
    apiKey: gateway.secretKey,
    baseURL: `${gateway.url}/v1`,
    fetch: (url, init) => {
      asked++;
      return fetch(url, init);
    },
  });
  await expect(counting.chat.completions.create({ model: 'Poet', messages: [...messages] })).rejects.toMatchObject(
    expected,
  );
  expect(asked).toBe(1);
  await expect(client.responses.create({ model: 'Poet', input: 'A poem.' })).rejects.toMatchObject(expected);
  expect(model.requests).toHaveLength(1);
});

test('[K12] a stream of /v1 ends with the same error', async () => {
  const { gateway, client } = await openLimited();
  await using _gateway = gateway;
  const stream = await client.chat.completions.create({ model: 'Poet', messages: [...messages], stream: true });
  const read = async (): Promise<void> => {
    for await (const _chunk of stream);
  };
  await expect(read()).rejects.toThrow(/reached a limit of tokens before it could answer/);
});
