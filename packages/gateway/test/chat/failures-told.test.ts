import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { toRequest } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { chatApi } from './chat-api.ts';

describeWorlds('a run that fails', (open) => {
  test('the error text of a provider is shown to keys, but not to entities, at all endpoints', async () => {
    const quoted = 'Refused prompt: "Secret instructions"';
    const world = await open({ models: { default: scriptedModel(() => new Error(quoted)) } });
    const api = await chatApi(world);
    const ada = await api.person();
    const agent = await api.agent();
    await api.space(ada, agent);
    const token = await api.tokenOf(ada);
    const send = async (secret: string, method: string, path: string, body?: object, headers: object = {}) =>
      await (await api.app.fetch(toRequest(method, path, { secret, headers, ...(body && { body }) }))).text();
    const stream = { accept: 'text/event-stream' };
    const whole = await send(token, 'POST', '/chat', { agent, message: 'Hi' });
    const { run_id } = JSON.parse(whole).error.details;
    const told = [
      whole,
      await send(token, 'POST', '/chat', { agent, message: 'Hi' }, stream),
      await send(token, 'POST', '/v1/chat/completions', { model: agent, messages: [{ role: 'user', content: 'Hi' }] }),
      await send(token, 'POST', '/v1/responses', { model: agent, input: 'Hi', stream: true }),
      await send(token, 'GET', `/v1/responses/resp_${run_id}`),
    ];
    expect(told.map((text) => [text.includes('Secret instructions'), /failed/.test(text)])).toEqual(
      told.map(() => [false, true]),
    );
    expect(await send(api.key, 'GET', `/api/runs/${run_id}`)).toContain('Secret instructions');
    expect(await send(api.key, 'POST', '/chat', { agent, message: 'Hi' })).toContain('Secret instructions');
  });
});
