import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  blocked,
  cache,
  createSession,
  type Entry,
  fail,
  type Logger,
  log,
  type Middleware,
  type Policy,
  repair,
  retry,
  type SessionEvent,
  slice,
  ToolValidationError,
  Transcript,
  tool,
  wrapToolSet,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

const number = z.object({ n: z.number() });

function counter(give: (n: number, attempt: number) => unknown = (n) => n) {
  const ran: number[] = [];
  const count = tool({
    description: 'Counts.',
    effects: 'none',
    inputSchema: number,
    execute: ({ n }) => give(n, ran.push(n)),
  });
  return { count, ran };
}

/** Records when it is entered and left, for calls and for requests. */
function tracing(name: string, trace: string[]): Middleware {
  return {
    name,
    async call(next, { toolName }) {
      trace.push(`${name} > ${toolName}`);
      const value = await next();
      trace.push(`${name} < ${toolName}`);
      return value;
    },
    async model(next, _request, { step }) {
      trace.push(`${name} > model ${step}`);
      const reply = await next();
      trace.push(`${name} < model ${step}`);
      return reply;
    },
  };
}

const callOnce = (...inputs: number[]) => inputs.map((n) => ({ toolName: 'count', input: { n } }));

test('[R47] the first middleware is the outermost, for calls and for requests, and a tool’s own is the innermost', async () => {
  const trace: string[] = [];
  const { count } = counter();
  await runTurn({
    model: scriptedModel([callOnce(1), 'end']),
    tools: wrapToolSet({ count }, tracing('own', trace)),
    middleware: [tracing('outer', trace), tracing('inner', trace)],
    prompt: 'go',
  });
  const around = (what: string, ...names: string[]) => [
    ...names.map((name) => `${name} > ${what}`),
    ...names.toReversed().map((name) => `${name} < ${what}`),
  ];
  expect(trace).toEqual([
    ...around('model 1', 'outer', 'inner'),
    ...around('count', 'outer', 'inner', 'own'),
    ...around('model 2', 'outer', 'inner'),
  ]);
});

test('[R47] a middleware may change a request and a reply, and the reply it returns is stored', async () => {
  const model = scriptedModel(['said']);
  const shout: Middleware = {
    name: 'shout',
    async model(next, request) {
      const reply = await next({ ...request, temperature: 0 });
      return { ...reply, content: [{ type: 'text', text: 'SAID' }] };
    },
  };
  const result = await runTurn({ model, middleware: [shout], prompt: 'go' });
  expect(model.requests[0]?.temperature).toBe(0);
  expect(result.response).toBe('SAID');
});

test('[R27] an error thrown by a middleware around the model ends the turn, with the transcript', async () => {
  const refuse: Middleware = {
    name: 'refuse',
    model: async () => {
      throw new Error('not today');
    },
  };
  const turn = runTurn({ model: scriptedModel([]), middleware: [refuse], prompt: 'go' });
  await expect(turn).rejects.toMatchObject({ message: 'not today', stop: { reason: 'error' } });
});

test('[T23] an error thrown by a middleware around a call fails the call, and the turn continues', async () => {
  const { count, ran } = counter();
  const refuse: Middleware = {
    name: 'refuse',
    call: () => {
      throw new Error('not today');
    },
  };
  const options = { tools: { count }, middleware: [refuse], prompt: 'go' };
  const result = await runTurn({ ...options, model: scriptedModel([callOnce(1), 'end']) });
  expect(result).toMatchObject({
    response: 'end',
    settlements: [{ outcome: { status: 'error', message: 'not today' } }],
  });
  expect(ran).toEqual([]);
});

test('cache: the same input has the same result for some time, without running the tool', async () => {
  const clock = fakeClock();
  const { count, ran } = counter();
  const middleware = [cache({ ttlMs: 100, clock })];
  const script = [callOnce(1), callOnce(2), callOnce(1), 'end'];
  const run = () => runTurn({ model: scriptedModel(script), tools: { count }, middleware, prompt: 'go' });
  expect((await run()).settlements.map(({ outcome }) => outcome.text)).toEqual(['1', '2', '1']);
  expect(ran).toEqual([1, 2]);
  await clock.advance(99);
  await run();
  expect(ran).toEqual([1, 2]);
  await clock.advance(1);
  await run();
  expect(ran).toEqual([1, 2, 1, 2]);
});

test('cache: a result that failed, is pending or has no key is not cached', async () => {
  const clock = fakeClock();
  const { count, ran } = counter((n, attempt) => (attempt === 1 ? fail('once') : n));
  const never = cache({ ttlMs: 100, clock, key: () => undefined });
  for (const middleware of [[cache({ ttlMs: 100, clock })], [never]]) {
    ran.length = 0;
    for (let time = 0; time < 2; time++)
      await runTurn({ model: scriptedModel([callOnce(1), 'end']), tools: { count }, middleware, prompt: 'go' });
    expect(ran).toHaveLength(2);
  }
});

test('cache: inputs that JSON cannot distinguish do not share a result', async () => {
  const size = tool({
    description: 'Counts the members.',
    effects: 'none',
    inputSchema: z.object({ members: z.array(z.string()).transform((list) => new Set(list)) }),
    execute: ({ members }) => members.size,
  });
  const calls = [['a'], ['a', 'b'], []].map((members) => ({ toolName: 'size', input: { members } }));
  const model = scriptedModel([...calls, 'end']);
  const result = await runTurn({ model, tools: { size }, middleware: [cache({ ttlMs: 100 })], prompt: 'go' });
  expect(result.settlements.map(({ outcome }) => outcome.text)).toEqual(['1', '2', '0']);
});

test('cache: at most maxEntries are kept, the oldest go first', async () => {
  const { count, ran } = counter();
  const model = scriptedModel([...[1, 2, 3, 1].map((n) => callOnce(n)), 'end']);
  const middleware = [cache({ ttlMs: 100, maxEntries: 2, clock: fakeClock() })];
  await runTurn({ model, tools: { count }, middleware, prompt: 'go' });
  expect(ran).toEqual([1, 2, 3, 1]);
});

test('cache: an invalid time is refused, naming the field', () => {
  for (const ttlMs of [0, -1, Number.NaN]) expect(() => cache({ ttlMs })).toThrow('ttlMs');
});

test('log: logs every call and request, and how it ended', async () => {
  const lines: string[] = [];
  const logger = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, (message: string) => lines.push(`${level} ${message}`)]),
  ) as unknown as Logger;
  const { count } = counter((n) => {
    if (n === 2) throw new Error('two');
    return n === 3 ? fail('three') : n;
  });
  const model = scriptedModel([callOnce(1), callOnce(2), callOnce(3), 'end']);
  let id = 0;
  await runTurn({ model, tools: { count }, middleware: [log(logger)], prompt: 'go', newId: () => `c${++id}` });
  expect(lines).toEqual([
    'info The model replied in step 1',
    'debug count (c1) starts',
    'info count (c1) is done',
    'info The model replied in step 2',
    'debug count (c2) starts',
    'warn count (c2) failed: Error: two',
    'info The model replied in step 3',
    'debug count (c3) starts',
    'warn count (c3) failed: three',
    'info The model replied in step 4',
  ]);
  await runTurn({ model: scriptedModel([new Error('down')]), middleware: [log(logger)], prompt: 'go' }).catch(() => {});
  expect(lines.at(-1)).toBe('warn The model failed in step 1: Error: down');
});

test('repair: arguments that do not fit are repaired once, and the result is checked again', async () => {
  const { count, ran } = counter();
  const asked: unknown[] = [];
  const mend = repair(({ toolName, input, problems, jsonSchema }) => {
    asked.push([toolName, input, problems.length > 0, typeof jsonSchema]);
    return JSON.parse(String(input)).n === 'one' ? { n: 1 } : { n: 'still wrong' };
  });
  const inputs = ['{"n":"one"}', '{"n":"two"}', '{"n":3}'];
  const model = scriptedModel([...inputs.map((input) => [{ toolName: 'count', input }]), 'end']);
  const result = await runTurn({ model, tools: { count }, middleware: [mend], prompt: 'go' });
  expect(asked).toEqual([
    ['count', '{"n":"one"}', true, 'object'],
    ['count', '{"n":"two"}', true, 'object'],
  ]);
  expect(ran).toEqual([1, 3]);
  expect(result.settlements.map(({ outcome }) => ('code' in outcome ? outcome.code : outcome.status))).toEqual([
    'ok',
    'invalid_input',
    'ok',
  ]);
});

test.each(['length', 'content-filter', 'error'] as const)(
  '[X22] repair is not called for the calls of a reply that ended with %s, because the missing part is unknown',
  async (unified) => {
    const asked: unknown[] = [];
    const pay = tool({ description: 'Pays.', inputSchema: z.object({ amount: z.number() }), execute: () => 'paid' });
    const calls = [{ toolName: 'pay', input: '{"amount":12' }];
    const model = scriptedModel([{ calls, finishReason: { unified, raw: unified } }, 'Done.']);
    const middleware = [repair((broken) => (asked.push(broken.callId), { amount: 12 }))];
    const { settlements } = await runTurn({ model, prompt: 'Pay', tools: { pay }, middleware });
    expect(settlements).toMatchObject([{ outcome: { status: 'error', code: 'invalid_input' } }]);
    expect(asked).toEqual([]);
  },
);

test('repair: if the function throws, the arguments stay invalid', async () => {
  const { count } = counter();
  const mend = repair(() => {
    throw new Error('no idea');
  });
  const session = createSession({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
  const model = scriptedModel([[{ toolName: 'count', input: '{"n":' }], 'end']);
  const result = await runTurn({ model, tools: { count }, middleware: [mend], prompt: 'go', session });
  expect(result.settlements[0]?.outcome).toMatchObject({ code: 'invalid_input' });
});

test('retry: a failed call runs again from a clean state, after a wait, up to the limit', async () => {
  const clock = fakeClock();
  const marks = slice<number>('marks', { initial: 0, on: { marked: (sum) => sum + 1 } });
  const seen: [attempt: number, marks: number][] = [];
  const shaky = tool({
    description: 'Works the third time.',
    effects: 'session',
    inputSchema: number,
    execute(_, { session, attempt }) {
      session.dispatch({ type: 'marked' } as SessionEvent);
      seen.push([attempt, session.read(marks)]);
      if (attempt === 1) throw new Error('first');
      return attempt === 2 ? fail('second') : 'third';
    },
  });
  const session = createSession({ slices: [marks] });
  const model = scriptedModel([[{ toolName: 'shaky', input: { n: 1 } }], 'end']);
  const middleware = [retry({ attempts: 3, backoff: (attempt) => attempt * 10, clock })];
  const turn = runTurn({ model, tools: { shaky }, middleware, prompt: 'go', session });
  await settled();
  expect(seen).toHaveLength(1);
  await clock.advance(10);
  expect(seen).toHaveLength(2);
  await clock.advance(19);
  expect(seen).toHaveLength(2);
  await clock.advance(1);
  expect((await turn).settlements[0]?.outcome).toMatchObject({ status: 'ok', text: 'third' });
  expect(seen).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
  expect(session.read(marks)).toBe(1);
});

test('retry: a permanent failure is not retried', async () => {
  const rule: Policy = {
    name: 'no writing',
    guardFilesystem: (files, _call, { deny }) => ({ ...files, writeText: async () => deny('read only today') }),
  };
  let runs = 0;
  const define = (execute: () => unknown) =>
    tool({ description: 'Does not.', effects: 'session', inputSchema: number, execute: () => (runs++, execute()) });
  const never = {
    refused: define(() => blocked('a rule')),
    lost: define(() => fail('Nobody knows.', { code: 'unknown_outcome' })),
    odd: define(() => fail('It has acted.', { code: 'invalid_output' })),
    invalid: define(() => {
      throw new ToolValidationError('wrong');
    }),
    written: tool({
      description: 'Writes.',
      effects: 'session',
      inputSchema: number,
      policies: [rule],
      execute: (_, { filesystem }) => (runs++, filesystem.writeText('/a', 'x', { mode: 'create' })),
    }),
    lying: tool({
      description: 'Writes though it says it does not.',
      effects: 'none',
      inputSchema: number,
      execute: (_, { session }) => (runs++, session.dispatch({ type: 'x' })),
    }),
  };
  const clock = fakeClock();
  for (const toolName of Object.keys(never)) {
    runs = 0;
    const model = scriptedModel([[{ toolName, input: { n: 1 } }], 'end']);
    const turn = runTurn({ model, tools: never, middleware: [retry({ attempts: 3, clock })], prompt: 'go' });
    expect((await turn).settlements[0]?.outcome.status, toolName).toBe('error');
    expect(runs, toolName).toBe(1);
  }
});

test('retry: a model is asked again after a temporary error, and not after a permanent one', async () => {
  const clock = fakeClock();
  const busy = Object.assign(new Error('busy'), { isRetryable: true });
  const options = { middleware: [retry({ attempts: 2, backoff: 5, clock })], modelRetries: 0, clock, prompt: 'go' };
  const passing = scriptedModel([busy, 'hi']);
  const turn = runTurn({ ...options, model: passing });
  await settled();
  expect(passing.requests).toHaveLength(1);
  await clock.advance(5);
  expect((await turn).response).toBe('hi');
  const refusing = scriptedModel([Object.assign(new Error('bad key'), { statusCode: 401 })]);
  await expect(runTurn({ ...options, model: refusing })).rejects.toThrow('bad key');
  expect(refusing.requests).toHaveLength(1);
});

test('retry: an abort during the wait stops the retries, for calls and for requests', async () => {
  const clock = fakeClock();
  const busy = Object.assign(new Error('busy'), { isRetryable: true });
  const { count, ran } = counter(() => fail('no'));
  for (const script of [
    [busy, 'never'],
    [callOnce(1), 'never'],
  ]) {
    const abort = new AbortController();
    const model = scriptedModel(script);
    const middleware = [retry({ attempts: 3, backoff: 1_000, clock })];
    const turn = runTurn({ model, tools: { count }, middleware, modelRetries: 0, signal: abort.signal, prompt: 'go' });
    await settled();
    abort.abort();
    expect((await turn).stop).toEqual({ reason: 'aborted' });
    await settled();
    expect(model.requests).toHaveLength(1);
  }
  expect(ran).toHaveLength(1);
  expect(clock.sleepers).toBe(0);
});

test('retry: an invalid number of attempts is refused, naming the field', () => {
  for (const attempts of [0, 1.5, Number.NaN]) expect(() => retry({ attempts })).toThrow('attempts');
});

test('a middleware list that cannot work is refused before any model call', async () => {
  const model = scriptedModel([]);
  for (const middleware of ['log', [{}], [null], [{ name: '' }]] as never[]) {
    await expect(runTurn({ model, middleware, prompt: 'go' })).rejects.toThrow('middleware');
  }
  expect(model.requests).toHaveLength(0);
});

test('[R47] a middleware changes the outcome of a call for all readers: session, journal, listeners and model', async () => {
  const { count, ran } = counter((n) => 'x'.repeat(n));
  const cut: Middleware = {
    name: 'cut',
    outcome: (outcome, { toolName }) =>
      outcome.status === 'ok' && outcome.text.length > 3
        ? { ...outcome, value: `${toolName} gave much`, text: outcome.text.slice(0, 3) }
        : outcome,
  };
  const told: string[] = [];
  const journal = memoryJournal();
  const model = scriptedModel([callOnce(9, 2), 'Done.']);
  const { transcript } = await runTurn({
    model,
    prompt: 'Count.',
    tools: { count },
    middleware: [cut],
    journal,
    onEvent: (event) => void ('outcome' in event && told.push(event.outcome.text)),
  });
  expect(ran).toEqual([9, 2]);
  expect(told).toEqual(['xxx', 'xx']);
  const ends = (entries: readonly Entry[]) =>
    entries.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.outcome] : []));
  expect(ends(transcript.entries)).toMatchObject([{ text: 'xxx', value: 'count gave much' }, { text: 'xx' }]);
  expect(ends(journal.restore().transcript.entries)).toEqual(ends(transcript.entries));
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('"value":"xxx"');
});

test('[R57] an outcome from a middleware that could not be read back changes nothing, and is logged', async () => {
  const { count } = counter();
  const errors: string[] = [];
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message) };
  for (const wrong of [
    { status: 'ok', value: 1 },
    { status: 'ok', text: 'one', content: [{ type: 'file' }] },
  ]) {
    const model = scriptedModel([callOnce(1), 'Done.']);
    const middleware: Middleware[] = [{ name: 'careless', outcome: () => wrong as never }];
    const { transcript, settlements } = await runTurn({ model, prompt: 'Go.', tools: { count }, logger, middleware });
    expect(settlements).toMatchObject([{ outcome: { status: 'ok', text: expect.stringMatching(/^\d$/) } }]);
    expect(Transcript.fromJSON(JSON.stringify(transcript)).entries).toHaveLength(transcript.entries.length);
  }
  expect(errors).toEqual([
    'Middleware "careless" gave an invalid outcome for "count": text must be a text. The outcome is unchanged.',
    'Middleware "careless" gave an invalid outcome for "count": content[0].mediaType must be a text. The outcome is unchanged.',
  ]);
});

test('[R47] a middleware cannot turn a success into a failure, and one that throws changes nothing', async () => {
  const { count } = counter();
  const errors: string[] = [];
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message) };
  const deciding: Middleware = { name: 'deciding', outcome: () => ({ status: 'skipped', reason: 'no', text: 'no' }) };
  const throwing: Middleware = {
    name: 'throwing',
    outcome() {
      throw new Error('oops');
    },
  };
  const model = scriptedModel([callOnce(1), 'Done.']);
  const { settlements } = await runTurn({
    ...{ model, prompt: 'Count.', tools: { count }, logger },
    middleware: [deciding, throwing],
  });
  expect(settlements.map(({ outcome }) => outcome)).toEqual([{ status: 'ok', value: 1, text: '1' }]);
  expect(errors).toEqual([expect.stringContaining('"throwing" threw'), expect.stringContaining('"deciding" cannot')]);
});
