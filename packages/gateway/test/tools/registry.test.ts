import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { forAllTests, forEachTest } from '../support/for-all-tests.ts';
import { resultsOf } from '../support/requests.ts';
import { embedded, onPostgres } from '../support/stores.ts';
import { startWebSite } from '../support/web-site.ts';
import { type LogEntry, recordLogs } from '../support/world.ts';
import { type RegistryGateway, startRegistryGateway } from './registry-gateway.ts';

const fixed = (name: string, value: unknown): object => ({ name, executionType: 'internal', execution: { value } });
const confirm = { name: 'confirm', executionType: 'external', visible: false, resultSchema: { type: 'boolean' } };

const ping = tool({ description: 'Pings.', inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });

describe.each(embedded)('the tool registry on $kind', ({ create }) => {
  const database = forEachTest(create);
  const gateways: RegistryGateway[] = [];
  const start = async (options: Parameters<typeof startRegistryGateway>[1] = {}): Promise<RegistryGateway> => {
    const gateway = await startRegistryGateway(database, options);
    gateways.push(gateway);
    return gateway;
  };
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
  });
  const agentWith = async (gateway: RegistryGateway, tools: readonly unknown[], more: object = {}): Promise<string> => {
    const agent = await gateway.api('/api/agents', { name: 'Bot', instructions: '', tools, ...more });
    if (agent.id === undefined) throw new Error(JSON.stringify(agent));
    return agent.id;
  };
  const patch = (gateway: RegistryGateway, path: string, body: object): Promise<{ error?: object; version?: number }> =>
    gateway.api(path, body, { method: 'PATCH' });
  const remove = (gateway: RegistryGateway, path: string): Promise<Response> =>
    gateway.request(path, undefined, { method: 'DELETE' });

  test('[G15] a registered tool is called by the agents that name it, by name or by id, and they use a change in their next run', async () => {
    const gateway = await start();
    const made = await gateway.api('/api/tools', fixed('weather', 'sunny'));
    expect(made).toMatchObject({ name: 'weather', source: 'api', version: 1, usedBy: [] });
    const agents = [await agentWith(gateway, ['weather']), await agentWith(gateway, [made.id])];
    gateway.calls = [{ toolName: 'weather' }];
    for (const agent of agents)
      expect(await gateway.runTurnLoop(agent)).toMatchObject([{ outcome: { status: 'ok', value: 'sunny' } }]);
    expect(await patch(gateway, `/api/tools/${made.id}`, { execution: { value: 'rain' } })).toMatchObject({
      version: 2,
      config: { execution: { value: 'rain' } },
    });
    for (const agent of agents)
      expect(await gateway.runTurnLoop(agent)).toMatchObject([{ outcome: { status: 'ok', value: 'rain' } }]);
    const { usedBy } = await gateway.api('/api/tools/weather');
    expect(usedBy.map(({ id }: { id: string }) => id)).toEqual(agents.toSorted());
  });

  test('[X1] a tool that cannot work is refused with its path when it is registered', async () => {
    const gateway = await start();
    const refused: readonly (readonly [what: string, body: object, path: string])[] = [
      ['no name', { executionType: 'internal', execution: { value: 1 } }, 'name'],
      ['an unknown field', { ...fixed('t', 1), colour: 'blue' }, 'colour'],
      ['an unknown kind', { name: 't', executionType: 'magic' }, 'executionType'],
      [
        'a URL whose host is a placeholder',
        { name: 't', executionType: 'gateway', execution: { url: 'https://{{input.h}}/' } },
        'execution.url',
      ],
      [
        'a $ref to elsewhere',
        { ...fixed('t', 1), inputSchema: { $ref: 'http://127.0.0.1:1/schema.json' } },
        'inputSchema',
      ],
      ["a built-in tool's name", fixed('send_message', 1), 'name'],
      ['a name that is no tool name', fixed('a b', 1), 'name'],
    ];
    for (const [what, body, path] of refused) {
      const { error } = await gateway.api('/api/tools', body);
      expect({ what, error }).toMatchObject({ what, error: { code: 'invalid_config', details: { path } } });
    }
    expect((await gateway.api('/api/tools?source=api')).items).toEqual([]);
  });

  test('[X1] a change that cannot work is refused with its path, and the tool is unchanged', async () => {
    const gateway = await start();
    const made = await gateway.api('/api/tools', fixed('weather', 'sunny'));
    const refused = async (body: object): Promise<unknown> =>
      (await patch(gateway, `/api/tools/${made.id}`, body)).error;
    expect(await refused({ execution: null })).toMatchObject({ details: { path: 'execution' } });
    expect(await refused({ colour: 1 })).toMatchObject({ details: { path: 'colour' } });
    expect(await refused({ name: 'climate' })).toMatchObject({ code: 'invalid_config', details: { path: 'name' } });
    expect(await gateway.api(`/api/tools/${made.id}`)).toEqual(made);
  });

  test('[X1] the pattern of a registered schema is never run, and the model still reads it', async () => {
    const gateway = await start();
    const inputSchema = { type: 'object', properties: { word: { type: 'string', pattern: '^(a+)+$' } } };
    const made = await gateway.api('/api/tools', { ...fixed('slow', 1), inputSchema });
    expect(made.inputSchema.properties.word).toEqual({ type: 'string', description: 'Pattern: ^(a+)+$' });
    const settled = await gateway.api('/api/tools/slow/test', { input: { word: `${'a'.repeat(50)}!` } });
    expect(settled.outcome).toMatchObject({ status: 'ok', value: 1 });
  });

  test('a name that the configuration file or the registry has already is refused', async () => {
    const gateway = await start({ tools: { ping } });
    await gateway.api('/api/tools', fixed('weather', 1));
    for (const name of ['ping', 'weather']) {
      const answer = await gateway.request('/api/tools', fixed(name, 2));
      expect([answer.status, await answer.json()]).toMatchObject([
        409,
        { error: { code: 'tool_name_taken', details: { path: 'name' } } },
      ]);
    }
  });

  test('tools of the file, the registry and the built-in ones are one list with their sources, page by page', async () => {
    const gateway = await start({ tools: { ping } });
    for (const name of ['one', 'two', 'three']) await gateway.api('/api/tools', fixed(name, name));
    const listed: { name: string; source: string }[] = [];
    let path = '/api/tools?limit=4';
    for (;;) {
      const { items, next } = await gateway.api(path);
      listed.push(...items);
      if (next === undefined) break;
      expect(items).toHaveLength(4);
      path = `/api/tools?limit=4&cursor=${encodeURIComponent(next)}`;
    }
    const names = (source: string): string[] => listed.filter((one) => one.source === source).map(({ name }) => name);
    expect(names('api')).toEqual(['one', 'two', 'three']);
    expect(names('file')).toEqual(['ping']);
    expect(names('built-in')).toContain('send_message');
    expect(names('built-in')).toContain('read_output');
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
    expect(listed.find(({ name }) => name === 'ping')).toMatchObject({
      executionType: 'gateway',
      visible: true,
      effects: 'external',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    });
    const ofFile = await gateway.api('/api/tools?source=file');
    expect(ofFile.items).toMatchObject([{ id: 'ping' }]);
  });

  test('tools of the file and built-in tools cannot be changed over HTTP', async () => {
    const gateway = await start({ tools: { ping } });
    for (const [name, source] of [
      ['ping', 'file'],
      ['send_message', 'built-in'],
    ]) {
      const before = await gateway.api(`/api/tools/${name}`);
      expect(before).toMatchObject({ name, source });
      expect(await patch(gateway, `/api/tools/${name}`, { visible: !before.visible })).toMatchObject({
        error: { code: 'not_editable', details: { source } },
      });
      expect((await remove(gateway, `/api/tools/${name}`)).status).toBe(409);
      expect(await gateway.api(`/api/tools/${name}`)).toEqual(before);
    }
    expect((await remove(gateway, '/api/tools/nobody')).status).toBe(404);
  });

  test('registering, changing, deleting and testing a tool needs an admin key; reading does not', async () => {
    const gateway = await start();
    const made = await gateway.api('/api/tools', fixed('weather', 1));
    const { key } = await gateway.api('/api/keys', { name: 'writer', scopes: ['write'] });
    const status = async (path: string, body?: object, method?: string): Promise<number> =>
      (await gateway.request(path, body, { key, method })).status;
    expect(await status('/api/tools')).toBe(200);
    expect(await status(`/api/tools/${made.id}`)).toBe(200);
    expect(await status('/api/tools', fixed('other', 1))).toBe(403);
    expect(await status(`/api/tools/${made.id}`, { visible: false }, 'PATCH')).toBe(403);
    expect(await status(`/api/tools/${made.id}`, undefined, 'DELETE')).toBe(403);
    expect(await status(`/api/tools/${made.id}/test`, { input: {} })).toBe(403);
    expect(await gateway.api(`/api/tools/${made.id}`)).toEqual(made);
    expect((await gateway.request('/api/tools/other')).status).toBe(404);
  });

  test('an inline tool with an address needs an admin key too, wherever it is in the agent', async () => {
    const gateway = await start();
    const { key } = await gateway.api('/api/keys', { name: 'writer', scopes: ['write'] });
    const http = { name: 'send', executionType: 'gateway', execution: { url: 'https://evil.example/{{input.x}}' } };
    const sub = {
      name: 'sub',
      executionType: 'gateway',
      execution: { agentConfig: { instructions: '', tools: [http] } },
    };
    const server = { name: 'evil', transport: 'http', url: 'https://evil.example/mcp' };
    const webhook = { url: 'https://evil.example/jobs', signingSecret: '${env.HOOK}' };
    const agent = (more: object): object => ({ name: 'Bot', instructions: '', ...more });
    for (const [more, path] of [
      [{ tools: [http] }, 'tools[0]'],
      [{ tools: [sub] }, 'tools[0].execution.agentConfig.tools[0]'],
      [{ mcp: { servers: [server] } }, 'mcp.servers[0]'],
      [{ mcpServers: [server] }, 'mcpServers[0]'],
      [{ jobs: { webhook } }, 'jobs.webhook'],
    ] as const) {
      const { error } = await gateway.api('/api/agents', agent(more), { key });
      expect(error).toMatchObject({ code: 'forbidden', details: { path } });
    }
    expect((await gateway.request('/api/agents', agent({ tools: [fixed('ping', 1)] }), { key })).status).toBe(201);
    const made = await gateway.api('/api/agents', agent({ tools: [http] }));
    const change = (body: object) => gateway.request(`/api/agents/${made.id}`, body, { key, method: 'PATCH' });
    // A tool that an admin added may stay, and be sent again.
    expect((await change({ instructions: 'Be kind.', tools: made.config.tools })).status).toBe(200);
    const other = { ...http, execution: { url: 'https://other.example' } };
    expect((await change({ tools: [other] })).status).toBe(403);
  });

  test('[X12] a sub-agent names tools of the registry, also through another sub-agent, and has a change at the next run', async () => {
    const expert = scriptedModel((request) => {
      const [first] = request.tools ?? [];
      const isFirst = resultsOf(request).length === 0 && first !== undefined;
      return isFirst ? { toolName: first.name, input: {} } : `Heard: ${JSON.stringify(resultsOf(request))}`;
    });
    const gateway = await start({ models: { expert } });
    const naming = (name: string, tool: string) => ({
      name,
      executionType: 'gateway',
      execution: { agentConfig: { instructions: '', model: 'expert', tools: [tool] } },
    });
    const depth = await gateway.api('/api/tools', fixed('depth', 'very deep'));
    await gateway.api('/api/tools', naming('diver', depth.id));
    await gateway.api('/api/tools', naming('captain', 'diver'));
    const { id } = await gateway.api('/api/agents', { name: 'Bot', instructions: '', tools: ['captain'] });
    gateway.calls = { toolName: 'captain', input: {} };
    const [before] = await gateway.runTurnLoop(id);
    expect(before?.outcome).toMatchObject({ status: 'ok', text: expect.stringContaining('very deep') });
    await patch(gateway, '/api/tools/depth', { execution: { value: 'shallow' } });
    const [after] = await gateway.runTurnLoop(id);
    expect(after?.outcome).toMatchObject({ status: 'ok', text: expect.stringContaining('shallow') });
  });

  test('an agent that names an unknown tool is refused with its path, and so is one that names a tool twice', async () => {
    const gateway = await start();
    const made = await gateway.api('/api/tools', fixed('weather', 1));
    const problem = async (tools: readonly unknown[]): Promise<unknown> =>
      (await gateway.api('/api/agents', { name: 'Bot', instructions: '', tools })).error.details;
    expect(await problem(['weather', 'wether'])).toMatchObject({ path: 'tools[1]' });
    expect(await problem([made.id, fixed('weather', 2)])).toMatchObject({ path: 'tools[1].name' });
  });

  test('a deleted tool is removed from the agents that name it, and they continue without it', async () => {
    const gateway = await start();
    const made = await gateway.api('/api/tools', fixed('weather', 'sunny'));
    await gateway.api('/api/tools', fixed('clock', 'noon'));
    const [byName, byId] = [
      await agentWith(gateway, ['weather', 'clock']),
      await agentWith(gateway, ['clock', made.id]),
    ];
    const deleted = await remove(gateway, '/api/tools/weather');
    expect(await deleted.json()).toEqual({
      ...{ id: 'weather', status: 'deleted', takenFrom: [byName, byId].toSorted(), takenFromTools: [] },
    });
    gateway.calls = [{ toolName: 'weather' }, { toolName: 'clock' }];
    for (const agent of [byName, byId]) {
      expect((await gateway.api(`/api/agents/${agent}`)).config.tools).toEqual(['clock']);
      expect((await gateway.runTurnLoop(agent)).map(({ outcome }) => outcome)).toMatchObject([
        { status: 'error', code: 'unknown_tool' },
        { status: 'ok', value: 'noon' },
      ]);
    }
  });

  test('a deleted tool is removed from the sub-agents that name it, and the agents that have these continue', async () => {
    const gateway = await start();
    const subAgent = (name: string, tools: readonly unknown[]): object => ({
      ...{ name, executionType: 'gateway', inputSchema: { type: 'object' } },
      execution: { agentConfig: { instructions: 'Help.', tools } },
    });
    const weather = await gateway.api('/api/tools', fixed('weather', 'sunny'));
    await gateway.api('/api/tools', fixed('clock', 'noon'));
    const helper = await gateway.api('/api/tools', subAgent('helper', ['clock', 'weather']));
    const planner = await gateway.api('/api/tools', subAgent('planner', ['helper']));
    const [inside, registered] = [
      await agentWith(gateway, ['clock', subAgent('own', [subAgent('deeper', [weather.id, 'clock'])])]),
      await agentWith(gateway, ['clock', 'planner']),
    ];
    const { usedBy } = await gateway.api('/api/tools/weather');
    expect(usedBy.map(({ id }: { id: string }) => id).toSorted()).toEqual([inside, registered].toSorted());
    const deleted = await remove(gateway, '/api/tools/weather');
    expect(await deleted.json()).toMatchObject({ takenFrom: [inside], takenFromTools: [helper.id] });
    expect(await gateway.api('/api/tools/helper')).toMatchObject({
      version: 2,
      config: { execution: { agentConfig: { instructions: 'Help.', tools: ['clock'] } } },
    });
    expect((await gateway.api('/api/tools/planner')).version).toBe(planner.version);
    expect((await gateway.api(`/api/agents/${inside}`)).config.tools).toMatchObject([
      'clock',
      { name: 'own', execution: { agentConfig: { tools: [{ execution: { agentConfig: { tools: ['clock'] } } }] } } },
    ]);
    gateway.calls = [{ toolName: 'clock' }];
    for (const agent of [inside, registered])
      expect(await gateway.runTurnLoop(agent)).toMatchObject([{ outcome: { status: 'ok', value: 'noon' } }]);
  });

  test('a registered tool in the contract of an agent, by its id, ends its runs until it is deleted', async () => {
    const gateway = await start();
    const made = await gateway.api('/api/tools', fixed('finish', 'done'));
    const agent = await agentWith(gateway, ['finish'], { terminating: { toolIds: [made.id] } });
    gateway.calls = [{ toolName: 'finish' }];
    expect(await gateway.runTurnLoop(agent)).toMatchObject([{ outcome: { value: 'done' } }]);
    const { items } = await gateway.api(`/api/runs?agentId=${agent}`);
    expect(items[0].stop).toEqual({ reason: 'end_turn', by: 'terminating', tool: 'finish' });
    await remove(gateway, `/api/tools/${made.id}`);
    expect((await gateway.api(`/api/agents/${agent}`)).config).toEqual({ name: 'Bot', instructions: '', tools: [] });
    gateway.calls = 'Nothing to do.';
    await gateway.runTurnLoop(agent);
    expect((await gateway.api(`/api/runs?agentId=${agent}`)).items[0]).toMatchObject({ status: 'completed' });
  });

  test('for an agent that is created while its tool is deleted, either the tool is removed or the agent is refused', async () => {
    const gateway = await start();
    for (let round = 0; round < 15; round++) {
      await gateway.api('/api/tools', fixed('weather', round));
      const agent = { name: 'Bot', instructions: '', tools: ['weather'] };
      const [made, deleted] = await Promise.all([
        gateway.request('/api/agents', agent),
        remove(gateway, '/api/tools/weather'),
      ]);
      expect([201, 422]).toContain(made.status);
      expect(deleted.status).toBe(200);
      const { id } = (await made.json()) as { id?: string };
      if (id !== undefined) expect((await gateway.api(`/api/agents/${id}`)).config.tools).toEqual([]);
    }
  });

  test('of two tools with one name that are registered at once, one is refused', async () => {
    const gateway = await start();
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        [1, 2, 3].map((value) => gateway.request('/api/tools', fixed(`tool_${round}`, value))),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    }
  });

  test('a tool that was added to the file later takes precedence over one of the registry with its name, and the log says so', async () => {
    const first = await start();
    const made = await first.api('/api/tools', fixed('ping', 'registered'));
    const agent = await agentWith(first, ['ping']);
    await first.stop();
    gateways.length = 0;
    const logs: LogEntry[] = [];
    const gateway = await start({ tools: { ping: { tool: ping, visible: false } }, logger: recordLogs(logs) });
    expect(logs).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining(`"ping" (${made.id})`) }),
    );
    gateway.calls = [{ toolName: 'ping', input: { n: 1 } }];
    expect(await gateway.runTurnLoop(agent)).toMatchObject([{ outcome: { value: 2 } }]);
    expect((await gateway.api('/api/tools/ping')).source).toBe('file');
    expect((await gateway.api(`/api/tools/${made.id}`)).source).toBe('api');
  });

  test.each(['changed', 'deleted'])('[G35] a call that waits is answered after its tool was %s', async (how) => {
    const gateway = await start();
    await gateway.api('/api/tools', confirm);
    const agent = await agentWith(gateway, ['confirm']);
    gateway.calls = [{ toolName: 'confirm' }];
    const [waiting] = await gateway.runTurnLoop(agent);
    expect(waiting?.outcome.status).toBe('pending');
    if (how === 'deleted') await remove(gateway, '/api/tools/confirm');
    else await patch(gateway, '/api/tools/confirm', { resultSchema: { type: 'string' }, description: 'Asks anew.' });
    gateway.calls = [];
    const answer = (result: unknown): Promise<Response> =>
      gateway.request(`/api/runs/${waiting?.runId}/tool-results`, { callId: waiting?.callId, result });
    // The schema is the one that the call was made with.
    expect((await answer('yes')).status).toBe(422);
    expect((await answer(true)).status).toBe(200);
    expect(await gateway.afterRuns(agent, 2)).toMatchObject([
      { callId: waiting?.callId, outcome: { status: 'ok', value: true } },
    ]);
  });

  test.each([
    ['changed', { status: 'error', code: 'denied' }],
    ['deleted', { status: 'error', code: 'unknown_tool' }],
  ])('[G35] a call that waits for approval ends once it is approved, after its tool was %s', async (how, expected) => {
    const gateway = await start();
    await gateway.api('/api/tools', { ...fixed('pay', 'old'), approval: true });
    const agent = await agentWith(gateway, ['pay']);
    gateway.calls = [{ toolName: 'pay' }];
    const [waiting] = await gateway.runTurnLoop(agent);
    expect(waiting?.outcome).toMatchObject({ status: 'pending', kind: 'approval' });
    if (how === 'deleted') await remove(gateway, '/api/tools/pay');
    else await patch(gateway, '/api/tools/pay', { execution: { value: 'new' } });
    gateway.calls = [];
    const body = { callId: waiting?.callId, approve: true };
    expect((await gateway.request(`/api/runs/${waiting?.runId}/tool-results`, body)).status).toBe(200);
    expect(await gateway.afterRuns(agent, 2)).toMatchObject([{ callId: waiting?.callId, outcome: expected }]);
  });

  test('a test of a tool goes through the whole pipeline: schema, egress, secrets, size limit', async () => {
    await using site = await startWebSite(({ url, headers }, response) =>
      response.end(url === '/large' ? 'x'.repeat(400_000) : `${url} ${headers.authorization}`),
    );
    const gateway = await start({
      egress: { allow: [site.host] },
      secrets: ['API_KEY'],
      env: { API_KEY: 'the-api-key-itself' },
    });
    await gateway.api('/api/tools', {
      name: 'fetch_page',
      executionType: 'gateway',
      inputSchema: { type: 'object', properties: { page: { type: 'string' } }, required: ['page'] },
      execution: { url: `${site.url}/{{input.page}}`, headers: { Authorization: '${env.API_KEY}' } },
    });
    const run = async (body: object): Promise<{ outcome: { text: string; status: string } }> =>
      await gateway.api('/api/tools/fetch_page/test', body);
    expect(await run({ input: { page: 'a' } })).toMatchObject({
      toolName: 'fetch_page',
      input: { page: 'a' },
      outcome: { status: 'ok', value: '/a [redacted]' },
    });
    expect(site.requests[0]?.headers.authorization).toBe('the-api-key-itself');
    expect(await run({ input: {} })).toMatchObject({ outcome: { status: 'error', code: 'invalid_input' } });
    const large = await run({ input: { page: 'large' } });
    expect(large.outcome.status).toBe('ok');
    expect(large.outcome.text.length).toBeLessThan(270_000);
    expect(site.requests).toHaveLength(2);
    // An address that is not allowed is not contacted.
    await using other = await startWebSite((_request, response) => response.end('inside'));
    await gateway.api('/api/tools', {
      name: 'fetch_inside',
      executionType: 'gateway',
      inputSchema: { type: 'object' },
      execution: { url: other.url },
    });
    const refused = await gateway.api('/api/tools/fetch_inside/test', { input: {} });
    expect(refused.outcome).toMatchObject({ status: 'error', text: expect.stringContaining('is refused: loopback') });
    expect(other.requests).toEqual([]);
  });

  test('a test of a tool asks no person and stores nothing: calls that others answer are pending, and approval is given with the test', async () => {
    const gateway = await start({ tools: { ping } });
    await gateway.api('/api/tools', { ...confirm, executionType: 'space', visible: true });
    await gateway.api('/api/tools', { ...fixed('pay', 'paid'), approval: true });
    const outcome = async (name: string, body: object): Promise<unknown> =>
      (await gateway.api(`/api/tools/${name}/test`, body)).outcome;
    expect(await outcome('confirm', { input: {} })).toMatchObject({ status: 'pending', kind: 'result' });
    expect(await outcome('pay', { input: {} })).toMatchObject({ status: 'pending', kind: 'approval' });
    expect(await outcome('pay', { input: {}, approve: true })).toMatchObject({ status: 'ok', value: 'paid' });
    expect(await outcome('ping', { input: { n: 1 } })).toMatchObject({ status: 'ok', value: 2 });
    expect((await gateway.api('/api/tools/send_message/test', { input: {} })).error).toMatchObject({
      code: 'not_testable',
    });
    expect((await gateway.api('/api/tools/ping/test', {})).error.message).toBe('input is missing.');
    expect((await gateway.request('/api/tools/nobody/test', { input: {} })).status).toBe(404);
    for (const path of ['/api/pending?status=pending', '/api/pending?status=resolved', '/api/runs'])
      expect((await gateway.api(path)).items).toEqual([]);
  });
});

describe('the registry of two gateways', () => {
  const database = forAllTests(onPostgres.create);

  test('a change at one gateway applies to the next run at any gateway', async () => {
    await using one = await startRegistryGateway(database);
    await using two = await startRegistryGateway(database);
    await one.api('/api/tools', fixed('weather', 0));
    const { id } = await one.api('/api/agents', { name: 'Bot', instructions: '', tools: ['weather'] });
    one.calls = two.calls = [{ toolName: 'weather' }];
    for (let value = 1; value <= 12; value++) {
      const [changing, running] = value % 2 === 0 ? [one, two] : [two, one];
      await changing.api('/api/tools/weather', { execution: { value } }, { method: 'PATCH' });
      expect(await running.runTurnLoop(id)).toMatchObject([{ outcome: { value } }]);
    }
  });
});
