import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, ask, SECRET_KEY } from './api.ts';
import { type Crew, openCrew, twoGateways } from './crew.ts';
import { findPlace } from './site.ts';
import { until } from './until.ts';

const SERVER = new URL('./hostile-schema-server.ts', import.meta.url).pathname;

const config = `
import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
const server = { name: 'hostile', transport: 'stdio', command: process.execPath, args: [${JSON.stringify(SERVER)}] };
export default {
  ...processConfig,
  tools: {
    ...processConfig.tools,
    form: {
      description: 'Asks for a page.',
      executionType: 'space',
      inputSchema: { type: 'object' },
      resultSchema: {
        type: 'object',
        properties: {
          page: { type: 'string', format: 'url' },
          text: { $ref: '#/x-note/p' },
          list: { type: 'array', uniqueItems: true },
        },
        'x-note': { p: { pattern: '^(a+)+$' } },
      },
    },
  },
  agents: processConfig.agents.map((agent) => ({
    ...agent,
    tools: [...agent.tools, 'form'],
    mcp: { servers: [server] },
  })),
};
`;

const letters = `${'a'.repeat(40)}!`;
const manyObjects = Array.from({ length: 12_000 }, (_, index) => ({ index, text: `x${index}` }));
const levels = Object.fromEntries(
  Array.from({ length: 24 }, (_, index) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, { allOf: [next, next] }];
  }),
);

/** A tool schema of a caller, and the input with which the model calls the tool. */
const ATTACKS = {
  pattern: {
    schema: { type: 'object', properties: { v: { $ref: '#/x-note/p' } }, 'x-note': { p: { pattern: '^(a+)+$' } } },
    input: { v: letters },
  },
  url: { schema: { type: 'object', properties: { v: { format: 'url' } } }, input: { v: `http://${letters}` } },
  levels: {
    schema: {
      type: 'object',
      properties: { v: { $ref: '#/$defs/d0' } },
      $defs: { ...levels, d24: { type: 'string' } },
    },
    input: { v: 1 },
  },
  unique: {
    schema: { type: 'object', properties: { v: { type: 'array', uniqueItems: true } } },
    input: { v: manyObjects },
  },
};

const MUCH = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, { type: 'string' }])),
};

/** Each of the attacks took half a minute or more. A busy machine may keep a gateway waiting for a while, too. */
const LONGEST_WAIT_MS = 15_000;

describe.each(twoGateways)('hostile schemas on $kind', ({ kind }) => {
  let crew: Crew;
  let url: string;
  let token: string;
  /** What the model calls next, in a conversation without calls. */
  let next: { readonly name: string; readonly input: object };

  beforeAll(async () => {
    crew = await openCrew({
      kind,
      leaseMs: 10_000,
      config,
      decide: ({ calls }) => (calls.length === 0 ? { calls: [next] } : { text: 'Done.' }),
    });
    ({ url } = crew.first);
    const { entities } = await findPlace(url);
    ({ token } = await ask(url, `/api/entities/${entities.Ada}/token`, {}));
  });
  afterAll(async () => await crew?.[Symbol.asyncDispose]());

  /** Sends a request while /health is polled all the time. */
  async function send(
    path: string,
    body: object,
    secret = token,
  ): Promise<Pick<ApiAnswer, 'status'> & { text: string }> {
    const waits: number[] = [];
    const health = { isOver: false };
    const probing = (async () => {
      while (!health.isOver) {
        const before = performance.now();
        expect((await fetch(`${url}/health`)).status).toBe(200);
        waits.push(performance.now() - before);
        await sleep(10);
      }
    })();
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    health.isOver = true;
    await probing;
    expect(Math.max(...waits)).toBeLessThan(LONGEST_WAIT_MS);
    return { status: response.status, text };
  }

  const complete = (tools: readonly object[]) =>
    send('/v1/chat/completions', { model: 'Anna', messages: [{ role: 'user', content: 'Go.' }], tools });

  const chat = (tools: object) =>
    send('/api/agents/Anna/chat', {
      id: randomUUID(),
      messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
      tools,
    });

  /** The result of the last call in the last request. */
  const lastResult = (): string => crew.site.model.requests.at(-1)?.calls.at(-1)?.result ?? '';

  test.each(Object.entries(ATTACKS))(
    '[X26] %s in a tool of /v1 and of useChat does not block other requests',
    async (name, attack) => {
      const { schema: parameters, input } = attack;
      next = { name: 'theirs', input };
      const asked = await complete([{ type: 'function', function: { name: 'theirs', parameters } }]);
      const page = await chat({ theirs: { inputSchema: parameters } });
      expect([asked.status, page.status]).toEqual([200, 200]);
      if (name === 'unique') expect(lastResult()).toContain('takes more than 200,000 steps');
      if (name === 'levels') expect(lastResult()).toContain('does not fit the schema');
    },
  );

  test.each(['pattern', 'levels', 'unique'])(
    '[X26] %s in the output schema of an MCP server does not block other requests',
    async (name) => {
      next = { name: `hostile__${name}`, input: {} };
      expect(await complete([])).toMatchObject({ status: 200 });
      if (name === 'unique') expect(lastResult()).toContain('takes more than 200,000 steps');
    },
  );

  test('[X26] an answer to a schema that is data is checked in little time, and refused with 422', async () => {
    next = { name: 'form', input: {} };
    expect(await complete([])).toMatchObject({ status: 200 });
    const call = await until('the form waits', async () => {
      const { db } = crew.site;
      return await db
        .selectFrom('calls')
        .selectAll()
        .where('tool_name', '=', 'form')
        .where('wait_status', '=', 'pending')
        .executeTakeFirst();
    });
    const answer = (result: object) =>
      send(`/api/runs/${call.run_id}/tool-results`, { callId: call.id, result }, SECRET_KEY);
    expect(await answer({ list: manyObjects.slice(0, 6_000) })).toMatchObject({
      status: 422,
      text: expect.stringContaining('takes more than 200,000 steps'),
    });
    expect(await answer({ page: `http://${letters} ` })).toMatchObject({ status: 422 });
    expect(await answer({ page: 'http://example.com/', text: letters })).toMatchObject({ status: 200 });
  });

  test('[X29] tools that are too many or too large are refused with 413 and their path', async () => {
    const large = await complete([{ type: 'function', function: { name: 'theirs', parameters: MUCH } }]);
    expect(large).toMatchObject({ status: 413, text: expect.stringContaining('tools[0] must be 64000 bytes') });
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`theirs_${index}`, {}]));
    expect(await chat(many)).toMatchObject({ status: 413, text: expect.stringContaining('tools must be 128 tools') });
  });

  test('[X26] a gateway that is killed and started again works', async () => {
    ({ url } = await crew.crash('a'));
    next = { name: 'theirs', input: ATTACKS.url.input };
    const parameters = ATTACKS.url.schema;
    expect(await complete([{ type: 'function', function: { name: 'theirs', parameters } }])).toMatchObject({
      status: 200,
    });
    expect(crew.site.model.problems).toEqual([]);
  });
});
