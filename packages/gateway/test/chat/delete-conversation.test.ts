import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeWorlds } from '../support/describe-worlds.ts';
import { call, chatApi } from './chat-api.ts';

describeWorlds('deleting a context', (open) => {
  test('a deleted conversation is gone with its runs and transcripts, and its id can be used for a new one', async () => {
    const model = scriptedModel(() => 'Hi.');
    const api = await chatApi(await open({ models: { default: model } }));
    const agent = await api.agent();
    await api.done('POST', '/contexts', { id: 'trip', agent });
    const { body: answer } = await api.call('POST', '/chat', { body: { context_id: 'trip', message: 'A secret' } });
    expect(await api.done('DELETE', '/contexts/trip')).toEqual({ id: 'trip' });
    expect((await api.call('GET', '/contexts/trip')).status).toBe(404);
    expect((await api.call('DELETE', '/contexts/trip')).status).toBe(404);
    expect((await api.call('GET', `/api/runs/${answer.run_id}`)).status).toBe(404);
    expect((await api.call('POST', '/chat', { body: { context_id: 'trip', message: 'Hello?' } })).status).toBe(404);
    await api.done('POST', '/contexts', { id: 'trip', agent });
    await api.done('POST', '/chat', { context_id: 'trip', message: 'Hello' });
    expect(JSON.stringify(model.requests.at(-1))).not.toContain('A secret');
  });

  test('a conversation with a call that waits is refused, and can be deleted once the call has been answered', async () => {
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
    const world = await open({ models: { default: scriptedModel([call('pay'), 'Done.']) }, tools: { pay } });
    const api = await chatApi(world);
    const agent = await api.agent('Payer', { tools: ['pay'] });
    const { body } = await api.call('POST', '/chat', { body: { agent, message: 'Pay' } });
    const path = `/contexts/${body.context_id}`;
    expect(await api.call('DELETE', path)).toMatchObject({ status: 409, body: { error: { code: 'context_in_use' } } });
    const callId = body.pending_calls[0].tool_call_id;
    await api.done('POST', `/api/runs/${body.run_id}/tool-results`, { callId, approve: true });
    await world.idle();
    expect((await api.call('DELETE', path)).status).toBe(200);
  });
});
