import { expect, test } from 'vitest';
import { z } from 'zod';
import type { DispatchOptions } from '../../src/dispatch/dispatch-options.ts';
import {
  createBudget,
  createSession,
  DeadlineExceededError,
  dispatchCall,
  type Middleware,
  OptionsError,
  ok,
  type Policy,
  PromptEvaluationError,
  repair,
  type Settlement,
  slice,
  type ToolSet,
  ToolValidationError,
  tool,
  VisibilityExpansionRequired,
} from '../../src/index.ts';

const inputSchema = z.object({ n: z.int() });
const log = slice<string[]>('log', {
  initial: [],
  on: { noted: (all, { what }: { type: string; what: string }) => [...all, what] },
});
const double = tool({ description: 'Doubles.', inputSchema, execute: ({ n }) => n * 2 });
const none = z.object({});

function dispatch(
  tools: ToolSet,
  toolName: string,
  input: unknown = {},
  more: Partial<DispatchOptions> = {},
): Promise<Settlement> {
  return dispatchCall({ tools, call: { toolName, input }, ...more });
}
const outcomeOf = async (...args: Parameters<typeof dispatch>) => (await dispatch(...args)).outcome;
const throwing = (thrown: unknown) =>
  tool({
    description: 'Throws.',
    inputSchema: none,
    execute: () => {
      throw thrown;
    },
  });

test('[T16] an unknown tool settles as error/unknown_tool, naming it and the closest names', async () => {
  const tools = { fetch_weather: double, send_mail: double };
  expect(await outcomeOf(tools, 'fetchWeather')).toMatchObject({
    status: 'error',
    code: 'unknown_tool',
    text: expect.stringMatching(/"fetchWeather".*fetch_weather/),
  });
  expect(await outcomeOf(tools, 'zzz')).toMatchObject({ text: expect.stringContaining('fetch_weather, send_mail') });
  expect(await outcomeOf({}, 'x')).toMatchObject({ text: expect.stringContaining('No tools') });
  for (const name of ['constructor', '__proto__', 'toString', '', 'x'.repeat(1_000_000)]) {
    expect(await outcomeOf(tools, name)).toMatchObject({ code: 'unknown_tool' });
  }
});

test.each([
  ['half a JSON', '{"n": 1'],
  ['an array', '[1]'],
  ['a number', '5'],
  ['null text', 'null'],
  ['text', '"n"'],
  ['a parsed array', [1]],
  ['a parsed number', 5],
])('[T17] arguments that are %s settle as error/invalid_input and execute is not called', async (_what, input) => {
  let called = false;
  const probe = tool({ description: 'd', inputSchema: z.looseObject({}), execute: () => void (called = true) });
  expect(await outcomeOf({ probe }, 'probe', input)).toMatchObject({ status: 'error', code: 'invalid_input' });
  expect(called).toBe(false);
});

test('[T17] empty arguments are {}', async () => {
  const probe = tool({ description: 'd', inputSchema: none, execute: (input) => input });
  for (const input of ['', '  ', '{}', {}, undefined]) {
    expect(await dispatchCall({ tools: { probe }, call: { toolName: 'probe', input } })).toMatchObject({
      outcome: { status: 'ok', value: {} },
    });
  }
});

test('[T18] extra keys at any depth fail, naming their paths, and all problems are listed', async () => {
  const deep = z.object({ a: z.string(), items: z.array(z.object({ id: z.number() })) });
  const probe = tool({ description: 'd', inputSchema: deep, execute: () => 1 });
  const input = { a: 5, items: [{ id: 1 }, { id: 'x', colour: 'red' }], more: true };
  const { text } = await outcomeOf({ probe }, 'probe', input);
  for (const path of ['a:', 'items[1].id', 'items[1].colour', 'more']) expect(text).toContain(path);
});

test('[T19] nothing is coerced unless the schema says so', async () => {
  expect(await outcomeOf({ double }, 'double', '{"n":"5"}')).toMatchObject({ code: 'invalid_input' });
  expect(await outcomeOf({ double }, 'double', '{"n":5.5}')).toMatchObject({ code: 'invalid_input' });
  const coercing = tool({ description: 'd', inputSchema: z.object({ n: z.coerce.number() }), execute: ({ n }) => n });
  expect(await outcomeOf({ coercing }, 'coercing', '{"n":"5"}')).toMatchObject({ value: 5 });
});

test('[T20] defaults and transforms reach every kind of tool as parsed input', async () => {
  const parsed = z.object({ n: z.string().transform(Number), unit: z.string().default('C') });
  const tools: ToolSet = {
    ours: tool({ description: 'd', inputSchema: parsed as never, execute: (input) => input }),
    theirs: { inputSchema: parsed, execute: (input: unknown) => input },
    json: tool({
      description: 'd',
      inputSchema: { type: 'object', properties: { n: { type: 'number' }, unit: { type: 'string', default: 'C' } } },
      execute: (input) => input,
    }),
  };
  expect(await outcomeOf(tools, 'theirs', { n: '5' })).toMatchObject({ value: { n: 5, unit: 'C' } });
  expect(await outcomeOf(tools, 'json', { n: 5 })).toMatchObject({ value: { n: 5, unit: 'C' } });
  const input = z.object({ unit: z.string().default('C') });
  const plain = tool({ description: 'd', inputSchema: input, execute: (got) => got });
  const settlement = await dispatch({ plain }, 'plain', '{}');
  expect(settlement).toMatchObject({ input: { unit: 'C' }, outcome: { value: { unit: 'C' } } });
});

test('[T21] the stages run in order, and one event marks the end', async () => {
  const order: string[] = [];
  const note = (what: string): void => void order.push(what);
  const session = createSession({
    slices: [slice('ends', { initial: 0, on: { ToolInvoked: (n: number) => (note('commit'), n + 1) } })],
  });
  session.subscribe('ToolInvoked', () => note('told'));
  const policy: Policy = {
    name: 'noting',
    beforeCall: () => note('policy'),
    afterCall: () => note('result hook'),
  };
  const probe = tool({
    description: 'd',
    inputSchema: z.object({ n: z.number().refine(() => (note('parse'), true)) }),
    approval: () => (note('approval'), false),
    execute: (_input, ctx) => (note(`execute ${ctx.session !== session}`), 'x'),
    outputSchema: z.string().refine(() => (note('output schema'), true)),
    policies: [policy],
  });
  const clock = { now: () => (note('clock'), 5), sleep: () => new Promise<void>(() => {}) };
  await dispatch({ probe }, 'probe', { n: 1 }, { session, clock, onEvent: (event) => note(event.type) });
  expect(order.filter((one) => one !== 'clock')).toEqual([
    'tool-call.start',
    'parse',
    'policy',
    'approval',
    'execute true',
    'output schema',
    'result hook',
    'commit',
    'tool-call.complete',
    'told',
  ]);
});

test('[T21] each call has one start and one end, however it ends', async () => {
  const tools = {
    double,
    boom: throwing(new Error('x')),
    ask: tool({ description: 'd', inputSchema: none, approval: true, execute: () => 1 }),
  };
  for (const [toolName, input, end] of [
    ['double', { n: 1 }, 'complete'],
    ['double', { n: 'x' }, 'error'],
    ['boom', {}, 'error'],
    ['nobody', {}, 'error'],
    ['ask', {}, 'pending'],
  ] as const) {
    const events: string[] = [];
    await dispatch(tools, toolName, input, { onEvent: (event) => events.push(event.type) });
    expect(events).toEqual(['tool-call.start', `tool-call.${end}`]);
  }
});

test('[T21] a repair is called once, and its result is checked again', async () => {
  const asked: unknown[] = [];
  const mending = (mended: unknown): Middleware =>
    repair((broken) => (asked.push(broken.problems.map((one) => one.path)), mended));
  expect(await outcomeOf({ double }, 'double', '{"n":"5"}', { middleware: [mending({ n: 5 })] })).toMatchObject({
    value: 10,
  });
  expect(asked).toEqual([['n']]);
  expect(await outcomeOf({ double }, 'double', '{"n":', { middleware: [mending('{"n":6}')] })).toMatchObject({
    value: 12,
  });
  expect(await outcomeOf({ double }, 'double', '{}', { middleware: [mending({ n: 'still' })] })).toMatchObject({
    code: 'invalid_input',
  });
  const broken = repair(() => {
    throw new Error('x');
  });
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  expect(await outcomeOf({ double }, 'double', '{}', { middleware: [broken], logger: quiet })).toMatchObject({
    code: 'invalid_input',
  });
});

test('[T22] a policy that denies settles as error/denied with its reason, and execute is not called', async () => {
  let called = false;
  const policies: Policy[] = [
    { name: 'no', beforeCall: ({ toolName, input }) => ({ deny: `${toolName} of ${JSON.stringify(input)}` }) },
  ];
  const probe = tool({ description: 'd', inputSchema, policies, execute: () => void (called = true) });
  expect(await outcomeOf({ probe }, 'probe', { n: 1 })).toMatchObject({
    status: 'error',
    code: 'denied',
    message: 'probe of {"n":1}',
  });
  expect(await outcomeOf({ double }, 'double', { n: 1 }, { policies })).toMatchObject({ code: 'denied' });
  expect(called).toBe(false);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('confused');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('confused');
    },
  ],
  ['gives no clear decision', () => false as never],
  ['gives a denial without a reason', () => ({ deny: 5 }) as never],
])('[T22] a policy that %s denies: it fails closed', async (_how, beforeCall) => {
  let called = false;
  const probe = tool({
    description: 'd',
    inputSchema: none,
    policies: [{ name: 'guard', beforeCall }],
    execute: () => void (called = true),
  });
  expect(await outcomeOf({ probe }, 'probe')).toMatchObject({
    code: 'denied',
    message: expect.stringContaining('guard'),
  });
  expect(called).toBe(false);
});

test('[T22] an approval function that throws denies the call, and edited arguments are parsed and checked by the policies again', async () => {
  const asking = tool({
    description: 'd',
    inputSchema,
    approval: () => {
      throw new Error('who?');
    },
    execute: () => 1,
  });
  expect(await outcomeOf({ asking }, 'asking', { n: 1 })).toMatchObject({
    code: 'denied',
    message: expect.stringContaining('who?'),
  });
  const small: Policy = {
    name: 'small',
    beforeCall: ({ input }) => ((input as { n: number }).n > 10 ? { deny: 'too big' } : undefined),
  };
  const pay = tool({ description: 'd', inputSchema, approval: true, policies: [small], execute: ({ n }) => n });
  const edit = (input: unknown) => outcomeOf({ pay }, 'pay', { n: 1 }, { answer: { approve: true, input } });
  expect(await edit({ n: 2 })).toMatchObject({ value: 2 });
  expect(await edit({ n: 'x' })).toMatchObject({ code: 'invalid_input' });
  expect(await edit({ n: 99 })).toMatchObject({ code: 'denied', message: 'too big' });
});

test.each([undefined, null, 0, '', 'no', Promise.resolve(undefined)])(
  '[T22] an approval function that returns %o, and not false, asks for approval',
  async (given) => {
    let runs = 0;
    const pay = tool({ description: 'd', inputSchema, approval: () => given as never, execute: () => ++runs });
    expect(await outcomeOf({ pay }, 'pay', { n: 1 })).toMatchObject({ status: 'pending', kind: 'approval' });
    expect(runs).toBe(0);
  },
);

test.each([
  ['an error', new Error('went wrong'), /"boom" failed: Error: went wrong/],
  ['a text', 'went wrong', /"boom" failed: string: went wrong/],
  [
    'an error of its own class',
    new (class PaymentError extends Error {
      override name = 'PaymentError';
    })('no money'),
    /PaymentError: no money/,
  ],
  ['a frozen error', Object.freeze(new Error('cold')), /Error: cold/],
  ['nothing', undefined, /"boom" failed/],
  ['null', null, /"boom" failed/],
  ['a symbol', Symbol('s'), /"boom" failed/],
  ['an error without a prototype', Object.setPrototypeOf(new Error('bare'), null), /bare/],
  [
    'a proxy that throws on access',
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
        getPrototypeOf: () => {
          throw new Error('no');
        },
      },
    ),
    /cannot be read/,
  ],
])('[T23] throwing %s settles as error/execution, with class and message and no stack', async (_what, thrown, text) => {
  const outcome = await outcomeOf({ boom: throwing(thrown) }, 'boom');
  expect(outcome).toMatchObject({ status: 'error', code: 'execution', text: expect.stringMatching(text) });
  expect(JSON.stringify(outcome)).not.toMatch(/at .*\.ts:\d+/);
});

test('[T23] a rejection, and a result that fails the output schema, settle as error/execution', async () => {
  const rejecting = tool({ description: 'd', inputSchema: none, execute: () => Promise.reject(new Error('later')) });
  expect(await outcomeOf({ rejecting }, 'rejecting')).toMatchObject({
    code: 'execution',
    text: expect.stringContaining('Error: later'),
  });
  const lying = tool({
    description: 'd',
    inputSchema: none,
    outputSchema: z.object({ n: z.number() }),
    execute: () => ({ n: 'x' }) as never,
  });
  expect(await outcomeOf({ lying }, 'lying')).toMatchObject({
    code: 'execution',
    text: expect.stringMatching(/lying.*n:/),
  });
  const honest = tool({
    description: 'd',
    inputSchema: none,
    outputSchema: z.object({ n: z.number().default(3) }),
    execute: () => ok({} as { n: number }),
  });
  expect(await outcomeOf({ honest }, 'honest')).toMatchObject({ status: 'ok', value: { n: 3 } });
});

test('[T24] RangeError and TypeError from execute are execution failures; a ToolValidationError is invalid input', async () => {
  expect(await outcomeOf({ boom: throwing(new RangeError('far')) }, 'boom')).toMatchObject({
    code: 'execution',
    text: expect.stringContaining('RangeError: far'),
  });
  expect(await outcomeOf({ boom: throwing(new TypeError('odd')) }, 'boom')).toMatchObject({
    code: 'execution',
    text: expect.stringContaining('TypeError: odd'),
  });
  expect(await outcomeOf({ boom: throwing(new ToolValidationError('no such city')) }, 'boom')).toMatchObject({
    code: 'invalid_input',
    message: 'no such city',
  });
});

test('[T25] a host signal rolls the call back and is rethrown unchanged', async () => {
  for (const signal of [
    new VisibilityExpansionRequired('open it', ['a.b']),
    new PromptEvaluationError('bad prompt', { phase: 'request' }),
  ]) {
    const session = createSession({ slices: [log] });
    const events: string[] = [];
    const boom = tool({
      description: 'd',
      inputSchema: none,
      execute: (_input, ctx) => {
        ctx.session.dispatch({ type: 'noted', what: 'half' });
        throw signal;
      },
    });
    await expect(dispatch({ boom }, 'boom', {}, { session, onEvent: (event) => events.push(event.type) })).rejects.toBe(
      signal,
    );
    expect(session.read(log)).toEqual([]);
    expect(events).toEqual(['tool-call.start', 'tool-call.error']);
    expect((await dispatch({ double }, 'double', { n: 1 }, { session })).outcome.status).toBe('ok');
  }
});

test('[T25] a DeadlineExceededError of the tool is rethrown as PromptEvaluationError with phase tool and the expiry', async () => {
  const own = dispatch({ boom: throwing(new DeadlineExceededError('too late', 123)) }, 'boom');
  await expect(own).rejects.toMatchObject({
    name: 'PromptEvaluationError',
    phase: 'tool',
    expiresAt: 123,
    message: 'too late',
  });
  const deadline = Date.now() + 60_000;
  const inherited = dispatch({ boom: throwing(new DeadlineExceededError()) }, 'boom', {}, { deadline });
  await expect(inherited).rejects.toBeInstanceOf(PromptEvaluationError);
  await expect(
    dispatch({ boom: throwing(new DeadlineExceededError()) }, 'boom', {}, { deadline }),
  ).rejects.toMatchObject({ expiresAt: deadline });
});

test('[T26] ToolInvoked is dispatched once for each call, with tool, input, outcome and times', async () => {
  const session = createSession();
  const told: unknown[] = [];
  const end = session.subscribe('ToolInvoked', (event) => told.push(event));
  await dispatch({ double }, 'double', '{"n":2}', { session });
  await dispatch({ double }, 'double', 'garbage', { session });
  await dispatch({ double }, 'nobody', {}, { session });
  expect(told).toMatchObject([
    {
      type: 'ToolInvoked',
      toolName: 'double',
      input: { n: 2 },
      outcome: { status: 'ok', value: 4 },
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
    },
    { toolName: 'double', input: 'garbage', outcome: { code: 'invalid_input' } },
    { toolName: 'nobody', outcome: { code: 'unknown_tool' } },
  ]);
  end();
  await dispatch({ double }, 'double', { n: 1 }, { session });
  expect(told).toHaveLength(3);
});

test('[T26] a subscriber that throws changes neither outcome nor state, and is reported once', async () => {
  const reports: unknown[] = [];
  const logger = {
    debug() {},
    info() {},
    warn() {},
    error: (message: string, error: unknown) => void reports.push([message, error]),
  };
  const session = createSession({ slices: [log], logger });
  const others: unknown[] = [];
  session.subscribe('ToolInvoked', () => {
    throw new Error('bad listener');
  });
  const asynchronous = async (): Promise<void> => {
    throw new Error('bad async listener');
  };
  session.subscribe('noted', asynchronous as () => void);
  session.subscribe('ToolInvoked', (event) => others.push(event.outcome.status));
  const noting = tool({
    description: 'd',
    inputSchema: none,
    execute: (_input, ctx) => ctx.session.dispatch({ type: 'noted', what: 'x' }),
  });
  expect(await outcomeOf({ noting }, 'noting', {}, { session })).toMatchObject({ status: 'ok' });
  expect(session.read(log)).toEqual(['x']);
  expect(others).toEqual(['ok']);
  expect(reports).toHaveLength(2);
});

test('[T40] a budget with no limit or a limit of 0 or less is refused, naming the field', async () => {
  for (const budget of [
    {},
    { toolCalls: 0 },
    { tokens: -1 },
    { toolCalls: Number.NaN },
    { steps: 5 } as never,
    { tokens: '5' as never },
  ]) {
    expect(() => createBudget(budget)).toThrow(OptionsError);
    await expect(dispatch({ double }, 'double', { n: 1 }, { budget })).rejects.toMatchObject({
      name: 'OptionsError',
      field: expect.stringContaining('budget'),
    });
  }
});

test('[T40] exactly at the limit passes; one more stops the next call, naming the dimension', async () => {
  const budget = createBudget({ toolCalls: 2, tokens: 100 });
  const call = () => outcomeOf({ double }, 'double', { n: 1 }, { budget });
  expect((await call()).status).toBe('ok');
  budget.add('tokens', 100);
  expect((await call()).status).toBe('ok');
  expect(await call()).toMatchObject({ status: 'error', code: 'budget', text: expect.stringContaining('toolCalls') });
  const tokens = createBudget({ tokens: 100 });
  tokens.add('tokens', 100);
  expect(await outcomeOf({ double }, 'double', { n: 1 }, { budget: tokens })).toMatchObject({ status: 'ok' });
  tokens.add('tokens', 1);
  expect(await outcomeOf({ double }, 'double', { n: 1 }, { budget: tokens })).toMatchObject({
    code: 'budget',
    message: expect.stringContaining('tokens'),
  });
});

test.each([
  ['call', { call: undefined }],
  ['call.toolName', { call: { toolName: 5 } }],
  ['call.callId', { call: { toolName: 'double', callId: '' } }],
  ['session', { session: {} }],
  ['signal', { signal: {} }],
  ['deadline', { deadline: Number.NaN }],
  ['middleware', { middleware: {} }],
  ['middleware[0]', { middleware: [{}] }],
])('an option %s that cannot work is refused before anything runs, naming it', async (field, wrong) => {
  const options = { tools: { double }, call: { toolName: 'double', input: { n: 1 } }, ...wrong } as never;
  await expect(dispatchCall(options)).rejects.toMatchObject({ name: 'OptionsError', field });
});

test('[T22] a policy that cannot set up its guard or its state denies', async () => {
  const guard: Policy = {
    name: 'broken',
    guardFilesystem: () => {
      throw new Error('no guard');
    },
  };
  const stubborn = tool({
    description: 'd',
    inputSchema: none,
    policies: [guard],
    execute: (_input, ctx) => {
      try {
        ctx.filesystem.list().catch(() => {});
      } catch {}
      return 'pretends';
    },
  });
  expect(await outcomeOf({ stubborn }, 'stubborn')).toMatchObject({
    code: 'denied',
    message: expect.stringContaining('no guard'),
  });
  const clashing = tool({
    description: 'd',
    inputSchema: none,
    policies: [{ name: 'clash', slices: [slice('log', { initial: 0, on: {} })] }],
    execute: () => 1,
  });
  const session = createSession({ slices: [log] });
  expect(await outcomeOf({ clashing }, 'clashing', {}, { session })).toMatchObject({
    code: 'denied',
    message: expect.stringContaining('"log"'),
  });
});

test('[T21] a tool that cannot work is refused before any event of the call', async () => {
  const events: string[] = [];
  const broken = { broken: { ...double, timeoutMs: -1 } };
  await expect(dispatch(broken, 'broken', {}, { onEvent: (event) => events.push(event.type) })).rejects.toThrow(
    'timeoutMs',
  );
  expect(events).toEqual([]);
});
