import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Api } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { call, chatApi } from './chat-api.ts';

/** Tools that record their runs. Each call of `pay` waits for approval. */
function tools(ran: string[]) {
  const inputSchema = z.looseObject({});
  const look = tool({ description: 'Looks.', inputSchema, execute: () => void ran.push('look') });
  const pay = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => void ran.push('pay') });
  return { look, pay };
}

const said = (text: string) => ({ id: text, role: 'user', parts: [{ type: 'text', text }] });

/** Tries all requests of a member in her own conversation. Returns their statuses by name. */
async function everything(api: Api, { agent, token }: { agent: string; token: string }, ids: Ids) {
  const as = async (method: string, path: string, body?: object, headers: object = {}) =>
    (await api.call(method, path, { secret: token, headers, ...(body === undefined ? {} : { body }) })).status;
  const fetch: typeof globalThis.fetch = async (input, init) => await api.app.fetch(new Request(input, init));
  const v1 = new OpenAI({ apiKey: token, baseURL: 'http://gateway/v1', fetch, maxRetries: 0 });
  const statusOf = (asked: Promise<unknown>) =>
    asked.then(
      () => 200,
      (error: { status?: number }) => error.status,
    );
  const { context_id, run_id, callId } = ids;
  return {
    read: await as('GET', `/contexts/${context_id}`),
    history: await as('GET', `/api/agents/${agent}/chat/page-1/messages`),
    reconnect: await as('GET', `/api/agents/${agent}/chat/page-1/stream`),
    response: await statusOf(v1.responses.retrieve(`resp_${run_id}`)),
    continued: await statusOf(
      v1.responses.create({ model: agent, input: 'On', previous_response_id: `resp_${run_id}` }),
    ),
    completion: await statusOf(
      v1.chat.completions.create({ model: agent, messages: [{ role: 'user', content: 'Hi' }] }),
    ),
    repeated: await as('POST', '/chat', { agent, message: 'Once' }, { 'idempotency-key': 'once' }),
    repeatedInContext: await as('POST', '/chat', { context_id, message: 'Twice' }, { 'idempotency-key': 'twice' }),
    chat: await as('POST', '/chat', { context_id, message: 'Look' }),
    invoke: await as('POST', '/chat/invoke', { context_id }),
    aiMessage: await as('POST', '/chat/add-ai-message', { context_id, message: 'I am Bot.' }),
    page: await as('POST', `/api/agents/${agent}/chat`, { id: 'page-1', messages: [said('Look again')] }),
    cancel: await as('POST', `/api/runs/${run_id}/cancel`),
    pending: (await api.call('GET', `/api/pending?agentId=${agent}`, { secret: token })).body.items.length,
    answer: await as('POST', `/api/runs/${ids.askedIn}/tool-results`, { callId, approve: true }),
  };
}

interface Ids {
  readonly context_id: string;
  readonly run_id: string;
  readonly askedIn: string;
  readonly callId: string;
}

async function openConversation(api: Api) {
  const [ada, agent] = [await api.person(), await api.agent('Bot', { tools: ['look', 'pay'] })];
  const space = await api.space(ada, agent);
  const token = await api.tokenOf(ada);
  const chat = async (body: object, headers: object = {}) =>
    (await api.call('POST', '/chat', { secret: token, body, headers })).body;
  await chat({ agent, message: 'Once' }, { 'idempotency-key': 'once' });
  const { context_id, run_id } = await chat({ agent, message: 'Begin' });
  await chat({ context_id, message: 'Twice' }, { 'idempotency-key': 'twice' });
  const page = { id: 'page-1', messages: [said('Begin')] };
  await api.call('POST', `/api/agents/${agent}/chat`, { secret: token, body: page });
  const asked = await chat({ agent, message: 'PAY' });
  const callId: string = asked.pending_calls[0].tool_call_id;
  return { ada, agent, space, token, ids: { context_id, run_id, askedIn: asked.run_id, callId } };
}

const script = () =>
  scriptedModel(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes('PAY')) return call('pay');
    return last.includes('Look') ? call('look') : 'Hi.';
  });

describeWorlds('a member who was removed', (open) => {
  test('[C16] can read, post and answer nothing in her conversations at any endpoint, and no tool runs', async () => {
    const ran: string[] = [];
    const world = await open({ models: { default: script() }, tools: tools(ran) });
    const api = await chatApi(world);
    const { ada, agent, space, token, ids } = await openConversation(api);
    await api.done('DELETE', `/api/spaces/${space}/members?entityId=${ada}`);
    const statuses = await everything(api, { agent, token }, ids);
    const refused = Object.fromEntries(Object.keys(statuses).map((name) => [name, 404]));
    expect(statuses).toEqual({ ...refused, pending: 0 });
    await world.idle();
    expect(ran).toEqual([]);
    // The operator still sees the conversation.
    expect((await api.call('GET', `/contexts/${ids.context_id}`)).status).toBe(200);
  });

  test('[C16] also loses access when the agent leaves the space, and has access again once they share one', async () => {
    const ran: string[] = [];
    const world = await open({ models: { default: script() }, tools: tools(ran) });
    const api = await chatApi(world);
    const { ada, agent, space, token, ids } = await openConversation(api);
    const look = { context_id: ids.context_id, message: 'Look' };
    await api.done('DELETE', `/api/spaces/${space}/members?entityId=${agent}`);
    expect((await api.call('POST', '/chat', { secret: token, body: look })).status).toBe(404);
    expect(ran).toEqual([]);
    await api.space(ada, agent);
    const statuses = await everything(api, { agent, token }, ids);
    const allowed = Object.fromEntries(Object.keys(statuses).map((name) => [name, 200]));
    expect(statuses).toEqual({ ...allowed, pending: 1, cancel: 409 });
    await world.idle();
    expect(ran).toEqual(['look', 'look', 'pay']);
  });

  test('[C16] keeps a conversation that a key gave her while she shared no space with the agent, and no other', async () => {
    const world = await open({ models: { default: script() }, tools: tools([]) });
    const api = await chatApi(world);
    const [ada, agent] = [await api.person(), await api.agent()];
    const secret = await api.tokenOf(ada);
    const give = async () => (await api.done<{ id: string }>('POST', '/contexts', { agent, entity_id: ada })).id;
    const say = async (context_id: string) =>
      (await api.call('POST', '/chat', { secret, body: { context_id, message: 'Hi' } })).status;
    const before = await give();
    expect(await say(before)).toBe(200);
    const space = await api.space(ada, agent);
    const meanwhile = await give();
    expect([await say(before), await say(meanwhile)]).toEqual([200, 200]);
    await api.done('DELETE', `/api/spaces/${space}/members?entityId=${ada}`);
    expect([await say(before), await say(meanwhile), await say(await give())]).toEqual([200, 404, 200]);
  });
});
