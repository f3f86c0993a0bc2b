import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { startTestGateway, type TestGateway, waitFor } from '../../src/testing/index.ts';
import { post, SECRETS, send } from './senders.ts';

const inputSchema = { type: 'object', properties: { ref: { type: 'string' } } };
const resultSchema = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };
const job = { executionType: 'external', visible: false, inputSchema, resultSchema } as const;

const config = {
  agents: [
    { name: 'Dock', instructions: 'Move things.', tools: ['haul', 'weigh'] },
    { name: 'Yard', instructions: 'Move things.', tools: ['haul'] },
  ],
  tools: { haul: job, weigh: job },
  hooks: { workers: { agent: 'Dock', verify: 'standard', secret: '${env.WORKERS}', answers: ['haul'] } },
  secrets: ['WORKERS'],
  env: { WORKERS: SECRETS.standard },
} as const;

interface Waiting {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
}

const open = (toolName = 'haul') =>
  startTestGateway({
    ...config,
    model: scriptedModel([{ toolName, input: { ref: 'm1' } }, 'Waiting.', 'It is done.']),
  });

/** The agent gets an event, and calls its tool. */
async function waitingCall(gateway: TestGateway, agent = 'Dock'): Promise<Waiting> {
  const agents: readonly { id: string; name: string }[] = (await gateway.api('/api/agents')).items;
  const id = agents.find(({ name }) => name === agent)?.id;
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  return await waitFor(async () => (await gateway.api('/api/pending')).items[0] as Waiting | undefined);
}

const answer = (gateway: TestGateway, body: object, id?: string) =>
  post(gateway.url, 'workers', send('standard', { body, ...(id === undefined ? {} : { id }) }));

async function resultsIn(gateway: TestGateway): Promise<readonly { event: { type: string } }[]> {
  const agents: readonly { id: string }[] = (await gateway.api('/api/agents')).items;
  const inboxes = await Promise.all(agents.map(({ id }) => gateway.api(`/api/agents/${id}/inbox`)));
  return inboxes.flatMap(({ items }) => items).filter(({ event }) => event.type === 'tool_result');
}

test('[O7] [X11] a signed hook answers an external call without a key, once, and the agent continues', async () => {
  await using gateway = await open();
  const { callId, runId } = await waitingCall(gateway);
  const body = { callId, runId, result: { url: 'https://example.com/1' } };
  expect(await answer(gateway, body, 'msg_1')).toMatchObject({ status: 200, json: { ok: true, duplicate: false } });
  expect((await answer(gateway, body, 'msg_1')).json).toEqual({ ok: true, duplicate: true });
  const other = await answer(gateway, { ...body, result: { url: 'https://example.com/2' } }, 'msg_1');
  expect([other.status, other.json.error.code]).toEqual([409, 'already_answered']);
  expect(other.json.error).not.toHaveProperty('details');
  const [result, ...others] = await resultsIn(gateway);
  expect(others).toEqual([]);
  expect(JSON.stringify(result)).toContain('https://example.com/1');
  const call = await gateway.api(`/api/calls/${callId}`);
  expect(JSON.stringify(call)).toContain('hook:workers');
});

test('[O7] [X11] a failed job is answered with its error', async () => {
  await using gateway = await open();
  const { callId, runId } = await waitingCall(gateway);
  expect((await answer(gateway, { callId, runId, error: 'The crane broke.' })).status).toBe(200);
  expect(JSON.stringify(await resultsIn(gateway))).toContain('The crane broke.');
});

test('[O7] [X11] a forged, a late and a wrong answer change nothing, and say what is wrong', async () => {
  await using gateway = await open();
  const { callId, runId } = await waitingCall(gateway);
  const body = { callId, runId, result: { url: 'https://example.com/1' } };
  const forged = send('standard', {
    body,
    secret: `whsec_${Buffer.from('another key of twenty-four').toString('base64')}`,
  });
  expect((await post(gateway.url, 'workers', forged)).status).toBe(401);
  const late = send('standard', { body, time: Math.floor(Date.now() / 1_000) - 310 });
  expect((await post(gateway.url, 'workers', late)).status).toBe(401);
  const wrong = [
    [{ callId, runId }, 422, 'invalid_request'],
    [{ ...body, approve: true }, 422, 'invalid_request'],
    [{ callId, runId, approve: true }, 422, 'invalid_request'],
    [{ ...body, result: { link: 1 } }, 422, 'invalid_answer'],
    [{ ...body, runId: 'none' }, 404, 'not_found'],
    [{ ...body, callId: 'none' }, 404, 'not_found'],
  ] as const;
  for (const [sent, status, code] of wrong) {
    const refused = await answer(gateway, sent);
    expect([refused.status, refused.json.error.code]).toEqual([status, code]);
  }
  expect(await resultsIn(gateway)).toEqual([]);
  expect((await gateway.api('/api/pending')).items).toHaveLength(1);
});

test.each([
  ['another tool', 'weigh', 'Dock'],
  ['another agent', 'haul', 'Yard'],
])('[O7] for a hook, a call of %s does not exist', async (_what, toolName, agent) => {
  await using gateway = await open(toolName);
  const { callId, runId } = await waitingCall(gateway, agent);
  const refused = await answer(gateway, { callId, runId, result: { url: 'https://example.com/1' } });
  expect(refused).toMatchObject({
    status: 404,
    json: { error: { message: `There is no waiting call "${callId}".` } },
  });
  expect(await resultsIn(gateway)).toEqual([]);
});

test('[O7] [X2] while a worker has claimed the job, the hook needs the token of the claim, and does not learn which worker has it', async () => {
  await using gateway = await open();
  const { callId, runId } = await waitingCall(gateway);
  const { claimToken } = await gateway.api(`/api/jobs/${callId}/claim`, { worker: 'crane' });
  const body = { callId, runId, result: { url: 'https://example.com/1' } };
  const refused = await answer(gateway, body);
  expect([refused.status, refused.json.error.code]).toEqual([409, 'job_claimed']);
  expect(refused.text).not.toContain('crane');
  expect((await answer(gateway, { ...body, claimToken })).json).toEqual({ ok: true, duplicate: false });
});
