import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  calledTools,
  compareReports,
  contains,
  cost,
  type EvalOptions,
  type EvalOutput,
  evaluate,
  exact,
  hostEvaluations,
  judge,
  latency,
  runCases,
  type Score,
  schema,
  settled,
} from '../../src/eval/index.ts';
import { fail, tool } from '../../src/index.ts';
import { fakeClock, scriptedModel } from '../../src/testing/index.ts';

const one = (output: EvalOutput | string, scores: Record<string, Score>, more: Partial<EvalOptions> = {}) =>
  evaluate({ cases: [{ name: 'a', input: 'Go.' }], run: () => output as never, scores, ...more });
const scoreOf = async (output: EvalOutput | string, score: Score, more?: Partial<EvalOptions>) =>
  (await one(output, { score }, more)).samples[0]?.scores.score;

describe('[E5] scores', () => {
  const usage = { inputTokens: 80, outputTokens: 20, totalTokens: 100 };
  const calls = (...names: string[]): EvalOutput => ({
    response: '',
    settlements: names.map((name) => ({
      toolName: name.replace('!', ''),
      input: {},
      outcome: (name.endsWith('!')
        ? { status: 'error', code: 'execution', message: 'No.', text: 'No.' }
        : { status: 'ok', text: 'Yes.' }) as never,
    })),
  });

  test.each<[string, EvalOutput | string, Score, number]>([
    ['exact', ' Paid. ', exact('Paid.'), 1],
    ['exact', 'paid.', exact('Paid.'), 0],
    ['exact', { response: '', output: { b: 2, a: 1 } }, exact({ a: 1, b: 2 }), 1],
    ['contains', 'Order 7 was SENT.', contains('sent'), 1],
    ['contains', 'Order 7 was sent.', contains(['sent', /order \d/i]), 1],
    ['contains', 'Order 7 was sent.', contains(['sent', 'lost']), 0],
    ['schema', '{"total":3}', schema(z.object({ total: z.number() })), 1],
    [
      'schema',
      { response: '', output: { total: '3' } },
      schema({ type: 'object', properties: { total: { type: 'number' } } }),
      0,
    ],
    ['schema', 'no JSON', schema(z.object({})), 0],
    ['calledTools', calls('look', 'other', 'pay'), calledTools(['look', 'pay']), 1],
    ['calledTools', calls('pay', 'look'), calledTools(['look', 'pay']), 0],
    ['calledTools', calls('look', 'other', 'pay'), calledTools(['look', 'pay'], { only: true }), 0],
    ['settled', calls('look', 'pay'), settled(), 1],
    ['settled', calls('look', 'pay!'), settled(), 0],
    ['settled', calls('look', 'pay!'), settled({ pay: 'error' }), 1],
    ['settled', calls('look'), settled({ pay: 'ok' }), 0],
    ['cost', { response: '', usage, cost: 0.2 }, cost({ most: 0.3, mostTokens: 100 }), 1],
    ['cost', { response: '', usage, cost: 0.2 }, cost({ mostTokens: 99 }), 0],
    ['cost', { response: '', usage }, cost({ most: 1 }), 0],
    ['a function', 'abc', ({ response }) => response.length === 3, 1],
    ['a function', 'abc', async ({ response }) => ({ value: response.length / 10, reason: 'short' }), 0.3],
  ])('[E5] %s', async (_name, output, score, value) => {
    expect(await scoreOf(output, score)).toMatchObject({ value });
  });

  test('the error for a wrong score says why', async () => {
    expect((await scoreOf(calls('look', 'pay!'), settled()))?.reason).toBe('pay ended with error');
    expect((await scoreOf('No.', exact('Yes.')))?.reason).toBe('It is "No.".');
    expect((await scoreOf('No.', exact()))?.reason).toContain('expected');
  });

  test('[E5] latency is measured', async () => {
    const clock = fakeClock();
    const options: EvalOptions = {
      cases: [{ input: 1 }],
      run: async () => (await clock.sleep(500), 'Done.'),
      scores: { fast: latency({ mostMs: 400 }), slow: latency({ mostMs: 600 }) },
    };
    const running = runCases(options, { clock });
    await clock.advance(0);
    await clock.advance(500);
    expect((await running).samples[0]?.scores).toMatchObject({ fast: { value: 0 }, slow: { value: 1 } });
  });

  test('[E5] a model as judge is asked several times, and the report says how far its grades agree', async () => {
    const grades = [9, 9, 2];
    const model = scriptedModel((_request, at) => ({
      toolName: 'grade',
      input: { grade: grades[at - 1], reason: 'It is polite.' },
    }));
    const report = await one('Dear Ada.', { polite: judge({ model, criteria: 'It is polite.' }) });
    expect(report.samples[0]?.scores.polite?.value).toBeCloseTo(20 / 30);
    expect(report.samples[0]?.scores.polite?.reason).toBe('67 % agree. It is polite.');
    expect(report.samples[0]?.judgeUsage?.totalTokens).toBe(45);
    expect(report.usage.totalTokens).toBe(45);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('Dear Ada.');
  });

  test.each<[string, Parameters<typeof scriptedModel>[0]]>([
    ['replies with text', () => 'It is polite.'],
    ['gives arguments that do not fit', () => ({ toolName: 'grade', input: { grade: 12, reason: 'It is polite.' } })],
  ])('[E5] a judge that always %s scores 0, and the reason says that it gave no grade', async (_what, script) => {
    const model = scriptedModel(script);
    const polite = judge({ model, criteria: 'It is polite.', times: 2 });
    const report = await one('Dear Ada.', { polite });
    expect(model.requests.length).toBeGreaterThan(1);
    expect(report.samples[0]?.judgeUsage?.totalTokens).toBe(15 * model.requests.length);
    expect(report.samples[0]?.scores.polite).toEqual({
      value: 0,
      reason:
        'The judge gave no grade. Its model was asked 2 times, and did not call the tool "grade" with valid arguments. Use another model as the judge.',
    });
  });

  test('[E5] a judge that grades only some of the times is judged by those, and the reason says how many', async () => {
    const model = scriptedModel((_request, at) =>
      at === 1 ? { toolName: 'grade', input: { grade: 9, reason: 'It is polite.' } } : 'Yes.',
    );
    const report = await one('Dear Ada.', { polite: judge({ model, criteria: 'It is polite.', times: 2 }) });
    expect(report.samples[0]?.scores.polite).toEqual({
      value: 0.9,
      reason: '50 % agree. The judge gave a grade 1 of 2 times. It is polite.',
    });
  });
});

const look = tool({
  description: 'Looks.',
  inputSchema: z.object({ order: z.number() }),
  effects: 'none',
  execute: ({ order }) => (order === 3 ? fail('There is no such order.') : `Order ${order} was sent.`),
});

test('[E5] an agent of the library is run with each input as its prompt', async () => {
  const model = scriptedModel(({ prompt }) => {
    const [, order] = /order (\d)/.exec(JSON.stringify(prompt)) ?? [];
    return prompt.some(({ role }) => role === 'tool') ? 'Sent.' : { toolName: 'look', input: { order: Number(order) } };
  });
  const report = await evaluate({
    name: 'desk',
    cases: [1, 2, 3].map((order) => ({ name: `order ${order}`, input: `Where is order ${order}?`, expected: 'Sent.' })),
    agent: { model, tools: { look }, instructions: 'Help.' },
    scores: { right: exact(), worked: settled(), looked: calledTools(['look']) },
    min: 0.6,
  });
  expect(report.scores).toMatchObject({ right: { mean: 1, n: 3 }, worked: { mean: 2 / 3 }, looked: { mean: 1 } });
  expect(report.samples.map((sample) => [sample.case, sample.calls])).toEqual([
    ['order 1', [{ toolName: 'look', status: 'ok' }]],
    ['order 2', [{ toolName: 'look', status: 'ok' }]],
    ['order 3', [{ toolName: 'look', status: 'error' }]],
  ]);
  expect(report).toMatchObject({ name: 'desk', failed: 0, passed: true, usage: { totalTokens: 90 } });
});

test('a run that fails counts as 0, keeps its error, and does not stop the others', async () => {
  const report = await evaluate({
    cases: [{ input: 1 }, { input: 2 }],
    run: (input) => {
      if (input === 1) throw new TypeError('x is not a function');
      return 'Done.';
    },
    scores: {
      done: contains('done'),
      broken: () => Number.NaN,
      percent: () => 85,
      thrown: () => Promise.reject(new Error('Oh.')),
    },
    min: 0.9,
  });
  expect(report.samples[0]).toMatchObject({ error: 'TypeError: x is not a function', scores: {} });
  expect(report.samples[1]?.scores).toMatchObject({
    done: { value: 1 },
    broken: { value: 0, reason: 'The score is not a number, but NaN.' },
    percent: { value: 0, reason: 'The score must be from 0 to 1, and is 85.' },
    thrown: { value: 0, reason: 'The score failed: Error: Oh.' },
  });
  expect(report).toMatchObject({ failed: 1, passed: false, scores: { done: { mean: 0.5 } } });
});

test.each([undefined, null, 5, { text: 'Done.' }])(
  'a run that returns %o fails, and the other cases are still run',
  async (wrong) => {
    const report = await evaluate({
      cases: [{ input: wrong }, { input: 'Done.' }],
      run: (input) => input as string,
      scores: { done: contains('done') },
    });
    expect(report).toMatchObject({
      failed: 1,
      scores: { done: { mean: 0.5 } },
      samples: [{ error: expect.stringContaining('run must return a text') }, { response: 'Done.' }],
    });
  },
);

test('[E5] cases run in parallel, no more at once than configured, and are reported in order', async () => {
  let [now, most] = [0, 0];
  const report = await evaluate({
    cases: Array.from({ length: 20 }, (_, at) => ({ input: at })),
    run: async (input) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, (input as number) % 3));
      now--;
      return String(input);
    },
    scores: { any: () => true },
    parallel: 5,
    repeat: 2,
  });
  expect(most).toBe(5);
  expect(report.samples.map(({ response }) => Number(response))).toEqual(
    Array.from({ length: 40 }, (_, at) => at >> 1),
  );
});

test('[E5] an interrupted evaluation continues where it stopped', async () => {
  const kept: unknown[] = [];
  const leaving = new AbortController();
  const ran: unknown[] = [];
  const options: EvalOptions = {
    cases: Array.from({ length: 10 }, (_, at) => ({ input: at })),
    run: (input) => {
      ran.push(input);
      return 'Done.';
    },
    scores: { any: () => true },
    parallel: 1,
  };
  const interrupted = runCases(options, {
    signal: leaving.signal,
    onSample: (sample, { done }) => {
      kept.push(sample);
      if (done === 4) leaving.abort(new Error('Ctrl+C'));
    },
  });
  await expect(interrupted).rejects.toThrow('Ctrl+C');
  expect(kept).toHaveLength(4);
  const report = await runCases(options, { done: JSON.parse(JSON.stringify(kept)) });
  expect(ran).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(report.samples).toHaveLength(10);
});

test('[E5] a long-lived signal keeps nothing of the runs that ended', async () => {
  const { signal } = new AbortController();
  const cases = Array.from({ length: 20 }, (_, input) => ({ input }));
  await runCases({ cases, run: () => 'Done.', scores: { any: () => true } }, { signal });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('[E5] a score that is exactly the minimum has passed, and the largest number of parallel runs is 10,000', async () => {
  const options = { cases: [{ input: 1 }], run: () => 'a', scores: { half: () => 0.5 }, min: 0.5 };
  expect((await evaluate({ ...options, parallel: 10_000 })).passed).toBe(true);
  await expect(evaluate({ ...options, parallel: 10_001 })).rejects.toThrow('from 1 to 10,000');
});

test('repeated runs of a case count as one value, because they are not independent', async () => {
  const values = [1, 1, 0, 0];
  const report = await evaluate({
    cases: [{ input: 0 }, { input: 1 }],
    run: () => String(values.shift()),
    scores: { right: ({ response }) => Number(response) },
    repeat: 2,
    parallel: 1,
  });
  expect(report.scores.right).toMatchObject({ mean: 0.5, n: 2 });
});

test('[E5] two reports are compared case by case', async () => {
  const run = (right: readonly number[], count = 8) =>
    evaluate({
      cases: Array.from({ length: count }, (_, at) => ({ name: `c${at}`, input: at })),
      run: (input) => (right.includes(input as number) ? 'yes' : 'no'),
      scores: { right: contains('yes') },
    });
  const [before, better, luck] = [await run([]), await run([0, 1, 2, 3, 4, 5, 6]), await run([0, 1])];
  expect(compareReports(before, better).scores.right).toMatchObject({ mean: 7 / 8, verdict: 'better' });
  expect(compareReports(before, luck).scores.right).toMatchObject({ mean: 1 / 4, verdict: 'may be chance' });
  expect(compareReports(better, before).scores.right).toMatchObject({ verdict: 'worse' });
  expect(compareReports(before, await run([0], 10)).cases).toEqual({ shared: 8, onlyBefore: 0, onlyAfter: 2 });
});

test('a program that loads files runs their evaluations', async () => {
  const seen: unknown[] = [];
  const report = await hostEvaluations(
    {
      run: async (options) => (
        seen.push(options.agent), await runCases({ ...options, agent: undefined, run: () => 'Hi.' } as never)
      ),
    },
    () => evaluate({ agent: 'Desk', cases: [{ input: 'Hello' }], scores: { hi: contains('hi') } }),
  );
  expect([seen, report.scores.hi?.mean]).toEqual([['Desk'], 1]);
  const alone = await evaluate({ agent: 'Desk', cases: [{ input: 'Hello' }], scores: { hi: contains('hi') } });
  expect(alone.samples[0]?.error).toContain('Run the evaluation with "lastcall eval"');
});

test.each<[string, object]>([
  ['"cases" must be a list', { cases: [] }],
  [
    'There are two of "a"',
    {
      cases: [
        { name: 'a', input: 1 },
        { name: 'a', input: 2 },
      ],
    },
  ],
  ['or run must be given', { run: undefined }],
  ['or run must be given', { agent: 'Desk' }],
  ['"scores" must have at least one score', { scores: {} }],
  ['"scores.x" must be a function', { scores: { x: 1 } }],
  ['"repeat" must be a whole number', { repeat: 0 }],
  ['"min" must be a number from 0 to 1', { min: 2 }],
])('wrong options are refused: %s', async (message, wrong) => {
  const options = { cases: [{ input: 1 }], run: () => 'a', scores: { any: () => 1 }, ...wrong };
  await expect(evaluate(options as never)).rejects.toThrow(message);
});
