import { scriptedModel } from '@lastcall/core/testing';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startTestGateway } from '../../src/testing/index.ts';

const origin = 'https://app.example.com';
/** A browser sends these without asking, or in place of the client. */
const UNASKED = ['accept', 'user-agent'];

test('[G55] a page of a configured origin may send what the package openai sends, and reads whether to try again', async () => {
  const model = scriptedModel(() => 'Roses.');
  await using gateway = await startTestGateway({
    model,
    agents: [{ name: 'Clerk', instructions: 'Be brief.' }],
    corsOrigins: [origin],
  });
  const answers: Response[] = [];
  /** Asks first, as a browser does, and throws if a header may not be sent. */
  const browser: typeof fetch = async (url, init) => {
    const sent = [...new Headers(init?.headers).keys()].filter((name) => !UNASKED.includes(name));
    const asked = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': sent.join() };
    const preflight = await fetch(url, { method: 'OPTIONS', headers: asked });
    const allowed = preflight.headers.get('access-control-allow-headers')?.split(',') ?? [];
    expect(sent.filter((name) => !allowed.includes(name))).toEqual([]);
    const answer = await fetch(url, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), origin },
    });
    answers.push(answer);
    return answer;
  };
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secretKey, fetch: browser });
  const body = { model: 'Clerk', messages: [{ role: 'user', content: 'Flowers?' }] } as const;
  const settings = { timeout: 5_000, headers: { 'X-Lastcall-Effects': 'none', 'Idempotency-Key': 'order-17' } };
  const stream = client.chat.completions.stream({ ...body, messages: [...body.messages] }, settings);
  expect(await stream.finalContent()).toBe('Roses.');
  await expect(client.models.retrieve('None')).rejects.toMatchObject({ status: 404 });
  const refused = answers.at(-1)?.headers;
  expect(refused?.get('x-should-retry')).toBe('false');
  expect(refused?.get('access-control-expose-headers')?.split(',')).toContain('x-should-retry');
});
