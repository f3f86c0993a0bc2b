import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  blocked,
  createSession,
  dispatchCall,
  fail,
  ok,
  pending,
  reply,
  type Settlement,
  secret,
  tool,
} from '../../src/index.ts';
import { renderValue } from '../../src/results/render.ts';

function run(execute: () => unknown, more: object = {}): Promise<Settlement> {
  const probe = tool({ description: 'Probes.', inputSchema: z.object({}), execute, ...more });
  return dispatchCall({ tools: { probe }, call: { toolName: 'probe' } });
}
const textOf = async (execute: () => unknown, more: object = {}): Promise<string> =>
  (await run(execute, more)).outcome.text;

test('[T11] ok has the message OK; fail has no value unless one is given', () => {
  expect(ok(1)).toMatchObject({ status: 'ok', value: 1, message: 'OK' });
  expect(ok()).toMatchObject({ status: 'ok', value: undefined, message: 'OK' });
  expect(fail('no')).toMatchObject({ status: 'error', message: 'no' });
  expect('value' in fail('no')).toBe(false);
  expect(fail('no', { value: undefined })).toHaveProperty('value', undefined);
  expect(fail('no', { value: 5, code: 'mine' })).toMatchObject({ value: 5, code: 'mine' });
});

test('[T11] undefined from a tool is an empty text, never a missing result', async () => {
  expect((await run(() => undefined)).outcome).toEqual({ status: 'ok', value: undefined, text: '' });
});

test('[T12] ok(value, message) reads as message, blank line, value; only the message when the value is empty or excluded', async () => {
  expect(await textOf(() => ok({ a: 1 }, 'Done'))).toBe('Done\n\n{"a":1}');
  expect(await textOf(() => ok('text'))).toBe('OK\n\ntext');
  for (const empty of [undefined, null, '']) expect(await textOf(() => ok(empty, 'Done'))).toBe('Done');
  expect(await textOf(() => ok({ a: 1 }, 'Done', { excludeValueFromContext: true }))).toBe('Done');
  expect(await textOf(() => ok(0, 'Done'))).toBe('Done\n\n0');
  expect(await textOf(() => ok(false, 'Done'))).toBe('Done\n\nfalse');
});

test('[T12] a plain value reads as its rendering', async () => {
  expect(await textOf(() => 'as it is ')).toBe('as it is ');
  expect(await textOf(() => ({ a: 1 }))).toBe('{"a":1}');
  expect(await textOf(() => 7)).toBe('7');
});

test('a failure reads as its message and value, a blocked one as its reason, a reply as the text for the model', async () => {
  expect((await run(() => fail('No seats', { value: { left: 0 } }))).outcome).toEqual({
    status: 'error',
    code: 'execution',
    message: 'No seats',
    text: 'No seats\n\n{"left":0}',
  });
  expect((await run(() => blocked('not your turn'))).outcome).toMatchObject({
    status: 'error',
    code: 'blocked',
    text: 'not your turn',
  });
  expect((await run(() => reply({ user: 'Hello', model: 'greeted' }))).outcome).toMatchObject({
    status: 'ok',
    text: 'greeted',
    userText: 'Hello',
  });
});

test('[T13] an excluded value is hidden from the text; settlement and events hold it', async () => {
  const session = createSession();
  const told: unknown[] = [];
  session.subscribe('ToolInvoked', (event) => told.push(event.outcome));
  const probe = tool({
    description: 'd',
    inputSchema: z.object({}),
    execute: () => ok({ big: 'data' }, 'Stored', { excludeValueFromContext: true }),
  });
  const { outcome } = await dispatchCall({ tools: { probe }, session, call: { toolName: 'probe' } });
  expect(outcome).toEqual({ status: 'ok', value: { big: 'data' }, text: 'Stored' });
  expect(told).toEqual([outcome]);
});

test('[T13] a secret is redacted in every text, event, log and JSON', async () => {
  const session = createSession();
  const told: unknown[] = [];
  session.subscribe('ToolInvoked', (event) => told.push(event));
  const value = { user: 'ann', token: secret('hunter2'), list: [secret({ pin: 'zw9-vault' })] };
  const tools = {
    plain: tool({ description: 'd', inputSchema: z.object({}), execute: () => value }),
    bare: tool({ description: 'd', inputSchema: z.object({}), execute: () => secret('hunter2') }),
    rendered: tool({
      description: 'd',
      inputSchema: z.object({}),
      execute: () => value,
      render: (it) => `token ${it.token}`,
    }),
    failed: tool({ description: 'd', inputSchema: z.object({}), execute: () => fail(`bad ${value.token}`, { value }) }),
    thrown: tool({
      description: 'd',
      inputSchema: z.object({}),
      execute: () => {
        throw new Error(`cannot use ${value.token}`);
      },
    }),
  };
  for (const toolName of Object.keys(tools)) {
    const settlement = await dispatchCall({ tools, session, call: { toolName } });
    expect(settlement.outcome.text).toContain('[redacted]');
    for (const shown of [JSON.stringify(settlement), inspect(settlement, { depth: 9 }), `${settlement.outcome.text}`]) {
      expect(shown).not.toMatch(/hunter2|zw9-vault/);
    }
  }
  expect(inspect(told, { depth: 9 }) + JSON.stringify(told)).not.toMatch(/hunter2|zw9-vault/);
  expect(value.token.reveal()).toBe('hunter2');
});

test('[T14] rendering: text verbatim, JSON without empty fields, prose joined, [] for empty', () => {
  expect(renderValue(' a\nb ')).toBe(' a\nb ');
  expect(renderValue({ a: 1, b: undefined, c: null, d: { e: null }, f: [null, undefined] })).toBe(
    '{"a":1,"d":{},"f":[null,null]}',
  );
  expect(renderValue(['One.', 'Two.'])).toBe('One.\n\nTwo.');
  expect(renderValue([])).toBe('[]');
  expect(renderValue(['One.', 2])).toBe('["One.",2]');
  expect(renderValue(new Map([['a', 1]]))).toBe('{"a":1}');
  expect(renderValue(new Set([1, 2]))).toBe('[1,2]');
  expect(renderValue(null)).toBe('null');
});

test('[T14] render is used if given; one that throws or returns no text falls back to JSON', async () => {
  expect(await textOf(() => ({ n: 3 }), { render: ({ n }: { n: number }) => `n is ${n}` })).toBe('n is 3');
  const throwing = () => {
    throw new Error('x');
  };
  expect(await textOf(() => ({ n: 3 }), { render: throwing })).toBe('{"n":3}');
  expect(await textOf(() => ({ n: 3 }), { render: () => 5 })).toBe('{"n":3}');
});

test('[T14] a cyclic value, a BigInt and a throwing getter have a safe text', () => {
  const cycle: Record<string, unknown> = { name: 'a' };
  cycle.self = cycle;
  expect(renderValue(cycle)).toBe('{"name":"a","self":"[seen above]"}');
  expect(renderValue({ n: 10n })).toBe('{"n":"10"}');
  expect(renderValue(10n)).toBe('"10"');
  const hostile = {
    fine: 1,
    get bad(): never {
      throw new Error('no');
    },
  };
  expect(renderValue(hostile)).toBe('{"fine":1,"bad":"[unreadable value]"}');
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(renderValue(proxy)).toBe('[unreadable value]');
  expect(
    renderValue({
      toJSON: () => {
        throw new Error('no');
      },
    }),
  ).toContain('[unreadable value]');
  // The cost of a graph in which every node refers to every other grows with its nodes only.
  const graph = Array.from({ length: 300 }, (_, id) => ({ id, others: [] as unknown[] }));
  for (const one of graph) one.others = graph;
  expect(renderValue(graph).length).toBeLessThan(100_000);
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(renderValue(deep)).toContain('[too deep]');
});

test('[T14] rendering never throws and always returns a text', () => {
  const bad = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withNullPrototype: true,
  });
  fc.assert(
    fc.property(bad, (value) => {
      expect(typeof renderValue(value)).toBe('string');
    }),
    { numRuns: 2_000 },
  );
});

test('[T15] the status is a field: a text that looks like another status changes nothing', async () => {
  expect((await run(() => 'Error: it failed')).outcome).toEqual({
    status: 'ok',
    value: 'Error: it failed',
    text: 'Error: it failed',
  });
  expect((await run(() => fail('OK'))).outcome.status).toBe('error');
  // An object that came as data never counts as a result of this library.
  const lookalike = JSON.parse(JSON.stringify(fail('boom'))) as unknown;
  expect((await run(() => lookalike)).outcome.status).toBe('ok');
  expect((await run(() => ({ status: 'pending' }))).outcome.status).toBe('ok');
});

test('pending refuses an expiry that is not in the future', () => {
  for (const expiresInMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => pending({ expiresInMs })).toThrow('expiresInMs');
  expect(pending({ expiresInMs: 5 })).toMatchObject({ status: 'pending', expiresInMs: 5 });
});
