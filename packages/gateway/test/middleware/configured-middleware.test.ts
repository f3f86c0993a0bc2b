import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { forEachTest } from '../support/for-all-tests.ts';
import { embedded } from '../support/stores.ts';
import { type LogEntry, recordLogs } from '../support/world.ts';
import { type Ended, type RegistryGateway, startRegistryGateway } from '../tools/registry-gateway.ts';

const inputSchema = z.object({ amount: z.number(), to: z.string().default('Ann') });
const pay = (ran: unknown[], more: object = {}) =>
  tool({
    description: 'Pays.',
    inputSchema,
    execute: (input) => {
      ran.push(input);
      return `paid ${input.amount}`;
    },
    ...more,
  });

describe.each(embedded)('configured middleware on $kind', ({ create }) => {
  const database = forEachTest(create);
  let gateway: RegistryGateway | undefined;
  afterEach(async () => {
    await gateway?.stop();
  });
  /** Starts a gateway whose agent has these tools and middleware, and lets it perform one run for each of the replies. */
  const run = async (
    { middleware, ...options }: Parameters<typeof startRegistryGateway>[1] & { middleware?: readonly unknown[] },
    ...replies: ScriptedReply[]
  ): Promise<readonly (readonly Ended[])[]> => {
    gateway = await startRegistryGateway(database, options);
    const config = { name: 'Bot', instructions: '', tools: Object.keys(options.tools ?? {}), middleware };
    const { id, error } = await gateway.api('/api/agents', config);
    if (id === undefined) throw new Error(JSON.stringify(error));
    const ended: (readonly Ended[])[] = [];
    for (const reply of replies) {
      gateway.calls = reply;
      ended.push(await gateway.runTurnLoop(id));
    }
    return ended;
  };
  const call = (input: unknown): ScriptedReply => [{ toolName: 'pay', input }];

  test('[X21] the transcript marks a cache hit, and not a call that ran', async () => {
    const ran: unknown[] = [];
    const tools = { pay: { tool: pay(ran, { effects: 'none' }), visible: false } };
    const runs = await run(
      { tools, middleware: [{ cache: { ttlMs: 60_000 } }] },
      call({ amount: 1, to: 'Bob' }),
      call({ to: 'Bob', amount: 1 }),
    );
    const [first, second] = runs.map(([one]) => one?.outcome);
    expect(first).toEqual({ status: 'ok', value: 'paid 1', text: 'paid 1' });
    expect(second).toEqual({ ...first, middleware: { cache: { storedAt: expect.any(Number) } } });
    expect(ran).toHaveLength(1);
  });

  test('the cache has no results from before a change of the tool', async () => {
    gateway = await startRegistryGateway(database);
    const body = {
      name: 'rate',
      executionType: 'internal',
      execution: { value: 1 },
      middleware: [{ cache: { ttlMs: 60_000 } }],
    };
    await gateway.api('/api/tools', body);
    const { id } = await gateway.api('/api/agents', { name: 'Bot', instructions: '', tools: ['rate'] });
    gateway.calls = [{ toolName: 'rate' }];
    const outcomes = async (): Promise<unknown> => (await gateway?.runTurnLoop(id))?.[0]?.outcome;
    expect(await outcomes()).toMatchObject({ value: 1 });
    expect(await outcomes()).toMatchObject({ value: 1, middleware: { cache: {} } });
    await gateway.api('/api/tools/rate', { execution: { value: 2 } }, { method: 'PATCH' });
    expect(await outcomes()).toEqual({ status: 'ok', value: 2, text: '2' });
  });

  test('[X20] retries are in the transcript, for middleware of the agent and of a tool', async () => {
    let runs = 0;
    const execute = () => {
      runs += 1;
      if (runs % 3 !== 0) throw new Error('busy');
      return runs;
    };
    const make = () => tool({ description: 'Busy.', inputSchema: z.object({}), execute });
    const tools = { one: make(), two: { tool: make(), middleware: [{ retry: { attempts: 3 } }] } };
    const [ended] = await run({ tools }, [{ toolName: 'two' }, { toolName: 'one' }]);
    expect(ended?.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'ok', value: 3, middleware: { retry: { attempts: 3 } } },
      { status: 'error', message: 'busy' },
    ]);
    await gateway?.stop();
    runs = 0;
    const [again] = await run({ tools: { one: make() }, middleware: [{ retry: { attempts: 3 } }] }, [
      { toolName: 'one' },
    ]);
    expect(again).toMatchObject([{ outcome: { value: 3, middleware: { retry: { attempts: 3 } } } }]);
  });

  test.each([
    ['an agent', { middleware: ['repair'] }, undefined],
    ['a tool', {}, ['repair']],
  ])(
    '[X22] malformed input is repaired by rules for %s, and the repair is in the transcript',
    async (_whose, of, own) => {
      const ran: unknown[] = [];
      const tools = { pay: { tool: pay(ran), middleware: own as never } };
      const [ended] = await run({ tools, ...of }, call("{amount: 12, 'to': 'Bob',}"));
      expect(ended).toMatchObject([
        { input: { amount: 12, to: 'Bob' }, outcome: { status: 'ok', middleware: { repair: { by: 'rules' } } } },
      ]);
      expect(ran).toEqual([{ amount: 12, to: 'Bob' }]);
      const entries = await gateway?.api(`/api/runs/${ended?.[0]?.runId}/transcript`);
      expect(JSON.stringify(entries)).toContain(JSON.stringify("{amount: 12, 'to': 'Bob',}"));
    },
  );

  test('[X22] without repair, or if rules are not enough, malformed or invalid input is refused', async () => {
    const ran: unknown[] = [];
    const tools = { pay: pay(ran) };
    const [first] = await run({ tools }, call('{amount: 12}'));
    expect(first).toMatchObject([{ outcome: { status: 'error', code: 'invalid_input' } }]);
    await gateway?.stop();
    const [ended] = await run({ tools, middleware: ['repair'] }, [
      { toolName: 'pay', input: '{amount twelve}' },
      { toolName: 'pay', input: '{"amount":"twelve"}' },
    ]);
    expect(ended?.map(({ outcome }) => outcome.code)).toEqual(['invalid_input', 'invalid_input']);
    expect(ran).toEqual([]);
  });

  test('[X22] invalid input is repaired by the model that is configured, once, and checked again', async () => {
    const ran: unknown[] = [];
    const fixer = scriptedModel(['```json\n{"amount":12}\n```', '{"amount":"still wrong"}', 'null']);
    const tools = { pay: pay(ran) };
    const middleware = [{ repair: { model: 'fixer' } }];
    const [ended] = await run({ tools, middleware, models: { fixer } }, [
      { toolName: 'pay', input: '{"amount":"twelve"}' },
      { toolName: 'pay', input: '{"amount":"many"}' },
      { toolName: 'pay', input: '{"amount":"some"}' },
      // Rules are enough, so the model is not asked.
      { toolName: 'pay', input: '{amount: 7}' },
    ]);
    expect(ended?.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'ok', value: 'paid 12', middleware: { repair: { by: 'model' } } },
      { status: 'error', code: 'invalid_input' },
      { status: 'error', code: 'invalid_input' },
      { status: 'ok', value: 'paid 7', middleware: { repair: { by: 'rules' } } },
    ]);
    expect(fixer.requests).toHaveLength(3);
    expect(JSON.stringify(fixer.requests[0]?.prompt)).toContain('twelve');
  });

  test.each([
    ['that the provider says was cut off', '{amount: 12}', 'length'],
    ['that a filter cut off', '{amount: 12}', 'content-filter'],
    ['that ends in the middle, whatever the provider says', '{"amount":12', 'tool-calls'],
  ] as const)('[X22] a reply %s is never repaired', async (_what, input, reason) => {
    const ran: unknown[] = [];
    const fixer = scriptedModel(() => '{"amount":12}');
    const finishReason = { unified: reason, raw: reason };
    const [ended] = await run(
      { tools: { pay: pay(ran) }, middleware: [{ repair: { model: 'fixer' } }], models: { fixer } },
      { calls: [{ toolName: 'pay', input }], finishReason },
    );
    expect(ended?.map(({ outcome }) => [outcome.code, outcome.middleware])).toContainEqual([
      'invalid_input',
      undefined,
    ]);
    expect([ran, fixer.requests]).toEqual([[], []]);
  });

  test('[X23] the log has one line per call with its fields, and inputs and outputs only at debug level', async () => {
    const logs: LogEntry[] = [];
    let runs = 0;
    const execute = () => {
      runs += 1;
      if (runs === 1) throw new Error('busy');
      return 'the-output';
    };
    const tools = {
      pay: { tool: tool({ description: 'Pays.', inputSchema, execute }), visible: false },
      ask: { executionType: 'external' as const, visible: false },
    };
    const [ended] = await run(
      {
        tools,
        middleware: ['log', { retry: { attempts: 2 } }],
        logger: recordLogs(logs),
        secrets: ['API_KEY'],
        env: { API_KEY: 'the-api-key-itself' },
      },
      [
        { toolName: 'pay', input: { amount: 4, to: 'the-api-key-itself' } },
        { toolName: 'pay', input: { amount: 'x' } },
        { toolName: 'ask' },
        { toolName: 'nothing' },
      ],
    );
    const lines = logs.filter(({ message }) => message === 'Tool call');
    const runId = ended?.[0]?.runId;
    const agentId = expect.stringMatching(/./);
    const line = (index: number, fields: object): object => ({
      level: 'info',
      message: 'Tool call',
      details: {
        agentId,
        runId,
        callId: ended?.[index]?.callId,
        durationMs: expect.any(Number),
        attempt: 1,
        ...fields,
      },
    });
    expect(lines).toEqual([
      line(0, { toolName: 'pay', outcome: 'ok', attempt: 2 }),
      line(1, { toolName: 'pay', outcome: 'error', code: 'invalid_input' }),
      line(2, { toolName: 'ask', outcome: 'pending' }),
      line(3, { toolName: 'nothing', outcome: 'error', code: 'unknown_tool' }),
    ]);
    const [debug, rest] = [
      logs.filter(({ level }) => level === 'debug'),
      logs.filter(({ level }) => level !== 'debug'),
    ];
    const detail = debug.filter(({ message }) => message === 'Tool call, input and output');
    expect(detail[0]).toMatchObject({ details: { input: { amount: 4, to: '[redacted]' }, text: 'the-output' } });
    expect(JSON.stringify(rest)).not.toContain('the-output');
    expect(JSON.stringify(rest)).not.toContain('"amount":4');
    expect(JSON.stringify(logs)).not.toContain('the-api-key-itself');
  });
});
