import { waitFor } from '@lastcall/gateway/testing';
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { forEachTest } from '../support/for-all-tests.ts';
import { type Database, embedded, locationOf } from '../support/stores.ts';
import { startHttpServer } from './http-server.ts';
import { type McpAgent, serverFiles, startMcpAgent, stdioServer } from './mcp-agent.ts';
import { startModernServer } from './modern-server.ts';

/** Contains characters that JSON, URLs and databases tend to change, and a secret. */
const STATE = 'a+b/c== "ü" \\u0000 \ud83d\ude00 the-secret-of-the-test\n';
const SECRET = { secrets: ['API_KEY'], env: { API_KEY: 'the-secret-of-the-test' } };

/** A server of 2026 that asks twice, and records its calls. */
async function startAskingServer() {
  const states: unknown[] = [];
  const ran: unknown[] = [];
  const sizes: unknown[] = [];
  const site = await startModernServer(() => {
    const server = new McpServer({ name: 'asking', version: '1' });
    const size = z.object({ size: z.number() });
    server.registerTool('order', { inputSchema: z.object({ what: z.string() }) }, ({ what }, { mcpReq }) => {
      const state = mcpReq.requestState() as string | undefined;
      states.push(state);
      const responses = mcpReq.inputResponses;
      if (state === undefined)
        return inputRequired({
          inputRequests: { size: inputRequired.elicit({ message: `Which size of ${what}?`, requestedSchema: size }) },
          requestState: STATE,
        });
      if (responses?.size !== undefined) {
        sizes.push(responses.size);
        const chosen = acceptedContent(responses, 'size', size);
        if (chosen === undefined) return { content: [{ type: 'text', text: 'Not ordered.' }] };
        return inputRequired({
          inputRequests: {
            pay: inputRequired.elicitUrl({ message: 'Pay.', url: 'https://pay.example/7' }),
            note: inputRequired.elicit({ message: 'A note?', requestedSchema: z.object({ note: z.string() }) }),
          },
          requestState: `${STATE}${chosen.size}`,
        });
      }
      ran.push(responses);
      return { content: [{ type: 'text', text: `Ordered ${what}: ${state.slice(STATE.length)}.` }] };
    });
    return server;
  });
  return { site, states, ran, sizes };
}

type Asking = Awaited<ReturnType<typeof startAskingServer>>;

function startOn(database: Database, { site }: Asking, more: Partial<typeof SHOP> = {}): Promise<McpAgent> {
  const shop = { name: 'shop', transport: 'http' as const, url: site.url, headers: { 'x-key': '${env.API_KEY}' } };
  const servers = [{ ...shop, tools: { order: { visible: true } } }];
  return startMcpAgent(servers, { ...locationOf(database), ...SECRET, egress: { allow: [site.host] }, ...more });
}

/** A space in which people see the questions of the agent's visible tools. */
const SHOP = { spaces: [{ name: 'Shop', agents: ['Asker'], people: [{ name: 'Ada', externalId: 'ada' }] }] };

async function shopOf({ gateway }: McpAgent) {
  const [{ id }] = (await gateway.api('/api/spaces')).items;
  const card = async (callId: string) =>
    (await gateway.api(`/api/spaces/${id}/messages`)).items.find((one: { callId?: string }) => one.callId === callId);
  return { id: id as string, card };
}

const pendingCall = ({ gateway }: McpAgent) => waitFor(async () => (await gateway.api('/api/pending')).items[0]);

function answer({ gateway }: McpAgent, { runId, callId }: { runId: string; callId: string }, given: object) {
  return gateway.request(`/api/runs/${runId}/tool-results`, { callId, ...given });
}

describe.each(embedded)('a server that asks, on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('[X18] input_required becomes a waiting call, survives restarts, and resumes with its state byte for byte, round after round', async () => {
    const asking = await startAskingServer();
    await using _site = asking.site;
    const first = await startOn(database, asking);
    const { settled, requests } = await first.run([{ toolName: 'shop__order', input: { what: 'tea' } }]);
    expect(settled).toMatchObject([{ toolName: 'shop__order', outcome: { status: 'pending', kind: 'input' } }]);
    expect(requests.at(-1)).toContain('Which size of tea?');
    const asked = await pendingCall(first);
    expect(asked).toMatchObject({
      kind: 'input',
      round: 1,
      input: { what: 'tea' },
      display: { text: 'Which size of tea?' },
    });
    expect((await answer(first, asked, { result: { size: 'big' } })).status).toBe(422);
    await first.gateway.stop();

    const second = await startOn(database, asking);
    const taken = await answer(second, asked, { result: { size: 3 }, round: 1 });
    expect(taken.status).toBe(200);
    await second.ended();
    const again = await pendingCall(second);
    expect(again).toMatchObject({ callId: asked.callId, kind: 'input', round: 2 });
    expect(again.display.text).toContain(
      'Open this page in a browser, and answer when you are done: https://pay.example/7',
    );
    // The answer to the first question, sent once more, does not answer the second. Its client may have lost the connection before it was confirmed.
    const repeated = await answer(second, asked, { result: { size: 3 }, round: 1 });
    expect([repeated.status, await repeated.json()]).toEqual([
      200,
      { ...((await taken.json()) as object), duplicate: true },
    ]);
    expect((await answer(second, asked, { result: { size: 4 }, round: 1 })).status).toBe(409);
    expect(await pendingCall(second)).toMatchObject({ callId: asked.callId, round: 2, status: 'pending' });
    await second.gateway.stop();

    await using third = await startOn(database, asking);
    expect((await answer(third, again, { result: { pay: {}, note: { note: 'now' } } })).status).toBe(200);
    const done = await third.ended();
    expect(done.settled).toMatchObject([{ outcome: { status: 'ok', value: 'Ordered tea: 3.' } }]);
    expect(asking.states).toEqual([undefined, STATE, `${STATE}3`]);
    expect(asking.ran).toEqual([
      { pay: { action: 'accept', content: {} }, note: { action: 'accept', content: { note: 'now' } } },
    ]);
    // The answers of people are for the server. The model gets the outcome.
    expect(done.requests.join()).not.toContain('"note":"now"');
  });

  test('[X18] a card whose call asks again shows the new question, and not the decision on the first', async () => {
    const asking = await startAskingServer();
    await using _site = asking.site;
    await using agent = await startOn(database, asking, SHOP);
    const space = await shopOf(agent);
    await agent.run(
      [{ toolName: 'enter_space', input: { spaceId: space.id } }],
      [{ toolName: 'shop__order', input: { what: 'tea' } }],
    );
    const asked = await pendingCall(agent);
    expect(await space.card(asked.callId)).toMatchObject({ status: 'requires_action', call: { round: 1 } });
    expect((await answer(agent, asked, { result: { size: 3 }, round: 1 })).status).toBe(200);
    await agent.ended();
    const { status, call } = await space.card(asked.callId);
    expect({ status, call }).toMatchObject({ status: 'requires_action', call: { kind: 'input', round: 2 } });
    for (const field of ['decision', 'by', 'at']) expect(call).not.toHaveProperty(field);
    const again = await pendingCall(agent);
    expect((await answer(agent, again, { result: { pay: {}, note: { note: 'now' } } })).status).toBe(200);
    await agent.ended();
    expect(await space.card(asked.callId)).toMatchObject({
      status: 'complete',
      call: { decision: 'result', round: 2 },
    });
  });

  test('[X18] the person who is asked may decline, and the server gets that', async () => {
    const asking = await startAskingServer();
    await using _site = asking.site;
    await using agent = await startOn(database, asking);
    await agent.run([{ toolName: 'shop__order', input: { what: 'tea' } }]);
    await answer(agent, await pendingCall(agent), { error: 'No.' });
    expect((await agent.ended()).settled).toMatchObject([{ outcome: { status: 'ok', value: 'Not ordered.' } }]);
    expect(asking.sizes).toEqual([{ action: 'decline' }]);
  });

  test('[X18] [X7] the state of a call that asks is stored encrypted, and is not shown', async () => {
    const asking = await startAskingServer();
    await using _site = asking.site;
    const agent = await startOn(database, asking);
    const { runId } = await agent.run([{ toolName: 'shop__order', input: { what: 'tea' } }]);
    const paths = ['/api/pending', `/api/runs/${runId}/transcript`, `/api/agents/${agent.agentId}/inbox`];
    const shown = await Promise.all(paths.map((path) => agent.gateway.api(path)));
    await agent.gateway.stop();
    const store = await database.open();
    const rows = await store.db.selectFrom('calls').selectAll().execute();
    const entries = await store.db.selectFrom('transcript_entries').selectAll().execute();
    await store.close();
    expect(rows[0]?.resume_state).toEqual(expect.any(String));
    expect(JSON.stringify([rows, entries, shown])).not.toMatch(/the-secret-of-the-test|a\+b/);
  });

  test('[X18] an elicitation inside an open call becomes a card, and the call continues with its answer', async () => {
    const { server } = await stdioServer({ tools: { ask: { visible: true } } });
    await using agent = await startMcpAgent([server], {
      ...locationOf(database),
      spaces: [{ name: 'Shop', agents: ['Asker'], people: [{ name: 'Ada', externalId: 'ada' }] }],
    });
    const { gateway } = agent;
    const [space] = (await gateway.api('/api/spaces')).items;
    await agent.begin([{ toolName: 'enter_space', input: { spaceId: space.id } }], [{ toolName: 'local__ask' }]);
    const asked = await pendingCall(agent);
    expect(asked).toMatchObject({
      kind: 'input',
      toolName: 'local__ask',
      display: { text: 'Which size?' },
      spaceId: space.id,
      duringCall: expect.any(String),
    });
    const messages = async () => (await gateway.api(`/api/spaces/${space.id}/messages`)).items;
    const cards = async () =>
      (await messages()).map(({ callId, status }: { callId: string; status: string }) => ({ callId, status }));
    // The card has the question, and how it can be answered.
    expect(await messages()).toContainEqual(
      expect.objectContaining({
        callId: asked.callId,
        status: 'requires_action',
        call: expect.objectContaining({ kind: 'input', round: 1, resultSchema: asked.resultSchema }),
      }),
    );
    expect((await answer(agent, asked, { result: { size: 0 } })).status).toBe(422);
    expect((await answer(agent, asked, { result: { size: 2 } })).status).toBe(200);
    const { settled } = await agent.ended();
    expect(settled[1]?.outcome).toMatchObject({
      status: 'ok',
      value: JSON.stringify({ action: 'accept', content: { size: 2, gift: false } }),
    });
    expect(await cards()).toEqual([
      expect.objectContaining({ status: 'complete' }),
      { callId: asked.callId, status: 'complete' },
    ]);
    // No agent is woken, because the call was open.
    expect((await gateway.api(`/api/agents/${agent.agentId}/inbox`)).items).toHaveLength(1);
  });

  test('[X18] a question of an open call is withdrawn when the call ends without an answer', async () => {
    const files = await serverFiles();
    await using site = await startHttpServer(files);
    const tools = { ask: { visible: true } };
    await using agent = await startMcpAgent(
      [{ name: 'web', transport: 'http', url: site.url, timeout: 2_000, tools }],
      {
        ...locationOf(database),
        ...SHOP,
        egress: { allow: [site.host] },
      },
    );
    const space = await shopOf(agent);
    await agent.begin([{ toolName: 'enter_space', input: { spaceId: space.id } }], [{ toolName: 'web__ask' }]);
    const asked = await pendingCall(agent);
    expect(await space.card(asked.callId)).toMatchObject({ status: 'requires_action' });
    const { settled } = await agent.ended();
    expect(settled[1]?.outcome).toMatchObject({ status: 'error', code: 'timeout' });
    await waitFor(async () => (await agent.gateway.api('/api/pending')).items.length === 0);
    expect((await agent.gateway.api('/api/pending?status=cancelled')).items).toMatchObject([{ callId: asked.callId }]);
    expect(await space.card(asked.callId)).toMatchObject({ status: 'cancelled' });
    expect((await answer(agent, asked, { result: { size: 2 } })).status).toBe(410);
  });
});

test('[X18] a URL to visit is shown as text, and only if it is http or https', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  await agent.begin([{ toolName: 'local__visit', input: { text: 'https://id.example/?a=1' } }]);
  const asked = await pendingCall(agent);
  expect(asked.display.text).toBe(
    'Sign in.\n\nOpen this page in a browser, and answer when you are done: https://id.example/?a=1',
  );
  await answer(agent, asked, { result: {} });
  expect((await agent.ended()).settled[0]?.outcome.text).toContain('"accept"');
  for (const text of ['javascript:alert(1)', 'file:///etc/passwd', 'vscode://run']) {
    const { settled } = await agent.run([{ toolName: 'local__visit', input: { text } }]);
    expect(settled[0]?.outcome.text).toContain('"decline"');
  }
});

test('[X18] if a server requires a visit to a page before the call, the error says so, with an http URL', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const [web, script] = ['https://id.example/first', 'javascript:alert(1)'];
  const call = (text: string) => agent.run([{ toolName: 'local__visit-first', input: { text } }]);
  expect((await call(web)).settled[0]?.outcome.text).toContain(web);
  expect((await call(script)).settled[0]?.outcome.text).not.toContain('javascript');
});

test('[X18] a question that could belong to several open calls is not asked', async () => {
  const { server } = await stdioServer({
    trusted: true,
    tools: { ask: { effects: 'none' }, wait: { effects: 'none' } },
    timeout: 2_000,
  });
  await using agent = await startMcpAgent([server]);
  const { settled } = await agent.run([{ toolName: 'local__wait' }, { toolName: 'local__ask' }]);
  expect(settled.find(({ toolName }) => toolName === 'local__ask')?.outcome.text).toContain('"cancel"');
  for (const status of ['pending', 'resolved', 'expired', 'cancelled'])
    expect((await agent.gateway.api(`/api/pending?status=${status}`)).items).toEqual([]);
});
