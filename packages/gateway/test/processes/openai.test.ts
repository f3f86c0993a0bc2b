import OpenAI, { type ClientOptions } from 'openai';
import { describe, expect, test } from 'vitest';
import { SECRET_KEY } from './api.ts';
import { openCrew, twoGateways } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { until } from './until.ts';

/**
 * Charges, then says so. The gateway `a` gets only half of the reply after the charge, and any other one gets nothing of it before
 * `a` is dead.
 */
function nextStep(isDead: Promise<void>) {
  return async ({ gateway, calls }: ModelRequest): Promise<ModelReply> => {
    if (calls.length === 0) return { calls: [{ name: 'charge', input: { ref: 'c' } }] };
    if (gateway === 'a') return { text: 'It is ', hold: new Promise(() => {}) };
    await isDead;
    return { text: 'It is paid.' };
  };
}

const messages = [{ role: 'user' as const, content: 'Charge it.' }];

describe.each(twoGateways)('a client of OpenAI whose gateway is killed on $kind', ({ kind }) => {
  test('[S11] gets the answer of another gateway through its retries, and each effect happens once', async () => {
    const death = Promise.withResolvers<void>();
    await using crew = await openCrew({ kind, leaseMs: 1_000, decide: nextStep(death.promise) });
    // As behind a load balancer: the client has one address, and each attempt goes to a living gateway.
    const address = { url: crew.named('a').url };
    const fetchThere: ClientOptions['fetch'] = (input, init) =>
      fetch(String(input).replace('http://gateway', address.url), init as RequestInit);
    const client = new OpenAI({ apiKey: SECRET_KEY, baseURL: 'http://gateway/v1', fetch: fetchThere, maxRetries: 10 });
    const completion = client.chat.completions.create({ model: 'Anna', messages });
    const response = client.responses.create({ model: 'Bert', input: 'Charge it.' });
    const stream = client.chat.completions.stream({ model: 'Cleo', messages }, KEY);
    const broken = stream.finalContent().then(
      () => 'ended',
      () => 'broken',
    );
    const askedAgain = (): number => crew.site.model.requests.filter(({ calls }) => calls.length === 1).length;
    await until('the model is asked for what comes after each charge', () => askedAgain() >= 3);
    const { url } = await crew.crash('a');
    address.url = url;
    death.resolve();
    expect((await completion).choices[0]?.message.content).toBe('It is paid.');
    expect((await response).output_text).toBe('It is paid.');
    // The client does not retry a stream that has begun; the program does, with its key.
    expect(await broken).toBe('broken');
    expect(await client.chat.completions.stream({ model: 'Cleo', messages }, KEY).finalContent()).toBe('It is paid.');
    const effects = await crew.site.effects();
    expect(effects.map(({ toolName }) => toolName)).toEqual(['charge', 'charge', 'charge']);
    expect(new Set(effects.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    expect(crew.site.model.problems).toEqual([]);
  });
});

const KEY = { headers: { 'Idempotency-Key': 'cleo-1' } };
