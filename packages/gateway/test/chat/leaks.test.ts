import { hostname } from 'node:os';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { waitFor } from '../../src/testing/wait-for.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { call, chatApi } from './chat-api.ts';

const look = tool({ description: 'Looks.', inputSchema: z.looseObject({}), terminal: true, execute: () => 'Seen.' });

describeWorlds('the content of answers and metrics', (open) => {
  test("[G68] names of a caller's tools, and names that a model invents, are not labels of metrics", async () => {
    const metrics = createMetrics();
    const model = scriptedModel([
      // The invented call is skipped, because the tool before it ends the turn.
      [call('look'), call('invented-1')],
      [call('invented-2')],
      [call('patient-4711')],
      'Done.',
    ]);
    const world = await open({ models: { default: model }, tools: { look }, metrics });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['look'] });
    await api.done('POST', '/chat', { agent, message: 'Look' });
    const tools = [{ type: 'function', function: { name: 'patient-4711' } }];
    const messages = [{ role: 'user', content: 'Ask' }];
    const asked = await api.done<{ choices: { message: { tool_calls: { id: string }[] } }[] }>(
      'POST',
      '/v1/chat/completions',
      { model: agent, messages, tools },
    );
    const { message } = asked.choices[0] ?? { message: { tool_calls: [] } };
    const answer = { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: 'Here.' };
    await api.done('POST', '/v1/chat/completions', { model: agent, messages: [...messages, message, answer], tools });
    const text = await metrics.render();
    const labels = new Set(
      [...text.matchAll(/lastcall_call_seconds_count\{tool="([^"]*)"/g)].map(([, label]) => label),
    );
    expect(labels).toEqual(new Set(['look', 'unknown', 'caller']));
    expect(text).not.toContain('patient-4711');
  });

  test('[G68] cancelling with a token does not name the host and the process that ran it', async () => {
    const wait = tool({
      description: 'Waits.',
      inputSchema: z.object({}),
      execute: (_input, { abortSignal }) =>
        new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason))),
    });
    const world = await open({ models: { default: scriptedModel(() => call('wait')) }, tools: { wait } });
    const api = await chatApi(world);
    const [ada, agent] = [await api.person(), await api.agent('Waiter', { tools: ['wait'] })];
    await api.space(ada, agent);
    const secret = await api.tokenOf(ada);
    const { id } = (await api.call('POST', '/contexts', { secret, body: { id: 'mine', agent } })).body;
    const waiting = api.call('POST', '/chat', { secret, body: { context_id: id, message: 'Wait' } });
    const runs = async () =>
      (await api.done<{ items: { id: string; worker?: string }[] }>('GET', `/api/runs?agentId=${agent}`)).items;
    await waitFor(async () => (await runs()).length === 1);
    const [run] = await runs();
    const process = `${hostname()}:`;
    expect(run?.worker).toContain(process);
    const takeovers = JSON.stringify([{ at: 1, afterSeq: 0, from: run?.worker, to: run?.worker, silentMs: 1 }]);
    await world.in(({ db }) =>
      db
        .updateTable('runs')
        .set({ takeovers })
        .where('id', '=', run?.id ?? '')
        .execute(),
    );
    const { body } = await api.call('POST', `/api/runs/${run?.id}/cancel`, { secret });
    expect(body).toMatchObject({ id: run?.id, threadId: 'mine' });
    expect(JSON.stringify([body, (await waiting).body])).not.toContain(process);
  });
});
