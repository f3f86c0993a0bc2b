import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  blocked,
  createSession,
  dispatchCall,
  fail,
  ok,
  pending,
  reply,
  resource,
  type Session,
  type Settlement,
  slice,
  type ToolContext,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';

// No tool makes dispatch throw or leaves a write behind, except by a host signal.

const items = slice<readonly unknown[]>('items', {
  initial: ['first'],
  on: { added: (all, { item }: { type: string; item: unknown }) => [...all, item] },
});
const counter = resource('counter', {
  create: () => ({ n: 0 }),
  snapshot: ({ n }) => n,
  restore: (value, n) => void (value.n = n),
});

type Act = (ctx: ToolContext) => unknown;

const acts: Record<string, Act> = {
  write: (ctx) => ctx.session.dispatch({ type: 'added', item: { of: 'a tool' } }),
  writeFile: (ctx) => ctx.filesystem.writeText('a.txt', 'changed'),
  writeFloating: (ctx) => void ctx.filesystem.writeText('new/b.txt', 'floating'),
  deleteFile: (ctx) => ctx.filesystem.delete('a.txt'),
  readMissing: (ctx) => void ctx.filesystem.readText('missing'),
  count: (ctx) => ctx.resources.get(counter).n++,
  mutateState: (ctx) => (ctx.session.read(items) as unknown[]).push('direct'),
  badEvent: (ctx) => ctx.session.dispatch({ type: 'added', item: new Map() }),
  noEvent: (ctx) => ctx.session.dispatch(null as never),
  fakeEnd: (ctx) => ctx.session.dispatch({ type: 'ToolInvoked' }),
  swallowed: (ctx) => {
    try {
      ctx.session.dispatch({ type: 'added', item: new Date() });
    } catch {}
  },
  progress: (ctx) => ctx.progress(hostileProxy()),
  later: (ctx) =>
    void settled()
      .then(() => ctx.session.dispatch({ type: 'added', item: 'late' }))
      .catch(() => {}),
  nested: async (ctx) => {
    const inner = tool({
      description: 'd',
      inputSchema: z.object({}),
      execute: (_input, own) => (own.session.dispatch({ type: 'added', item: 'inner' }), fail('inner')),
    });
    await dispatchCall({ tools: { inner }, call: { toolName: 'inner' }, parent: ctx });
  },
};

function hostileProxy(): object {
  const refuse = (): never => {
    throw new Error('hands off');
  };
  return new Proxy(
    {},
    { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse },
  );
}

function cycle(): object {
  const one: Record<string, unknown> = {};
  one.self = one;
  return one;
}

const values: Record<string, () => unknown> = {
  nothing: () => undefined,
  null: () => null,
  text: () => 'text',
  cycle,
  bigint: () => 10n,
  proxy: hostileProxy,
  function: () => () => 1,
  symbol: () => Symbol('s'),
  getter: () => ({
    get bad() {
      throw new Error('getter');
    },
  }),
  toJson: () => ({
    toJSON() {
      throw new Error('toJSON');
    },
  }),
  thenThrows: () => ({
    get then() {
      throw new Error('then');
    },
  }),
  ok: () => ok(cycle()),
  okProxy: () => ok(hostileProxy()),
  okOddMessage: () => ok(1, Symbol('m') as never),
  fail: () => fail('no', { value: hostileProxy() }),
  failOdd: () => fail(undefined as never, { code: 5 as never }),
  blocked: () => blocked('rule'),
  pending: () => pending({ expiresInMs: 5 }),
  reply: () => reply({ user: hostileProxy() as never, model: 5 as never }),
  frozenError: () => Object.freeze(new Error('frozen')),
  error: () => new Error('plain'),
  errorOddMessage: () => Object.assign(new Error('x'), { message: hostileProxy(), name: 5 }),
  errorNoPrototype: () => Object.setPrototypeOf(new Error('bare'), null),
};

type End = (value: () => unknown) => unknown;

const ends: Record<string, End> = {
  returns: (value) => value(),
  throws: (value) => {
    throw value();
  },
  resolves: async (value) => value(),
  rejects: (value) => Promise.reject(value()),
  neverResolves: () => new Promise(() => {}),
  resolvesTwice: (value) => ({
    then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      resolve('first');
      resolve(value());
      reject(new Error('second thoughts'));
    },
  }),
  thenNeverCalls: () => ({
    then: () => {},
  }),
  generator: async function* (value) {
    yield 'one';
    yield value();
  },
  generatorThrows: async function* (value) {
    yield 'one';
    throw value();
  },
  generatorHangs: async function* () {
    yield 'one';
    await new Promise(() => {});
  },
  endless: async function* () {
    for (;;) {
      yield 'again';
      await settled();
    }
  },
  brokenIterator: () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => {
        throw new Error('iterator');
      },
    }),
  }),
  oddIterator: () => ({ [Symbol.asyncIterator]: () => 5 }),
};

const name = <T>(record: Record<string, T>) => fc.constantFrom(...Object.keys(record)) as fc.Arbitrary<string>;
const badTool = fc.record({
  acts: fc.array(name(acts), { maxLength: 5 }),
  end: name(ends),
  value: name(values),
  effects: fc.constantFrom('none' as const, 'session' as const, 'external' as const),
  terminal: fc.boolean(),
  render: fc.constantFrom(
    undefined,
    () => {
      throw new Error('render');
    },
    () => 5 as never,
  ),
});

async function fingerprint(session: Session): Promise<string> {
  const files: string[] = [];
  for (const path of await session.filesystem.glob('**'))
    files.push(`${path}=${await session.filesystem.readText(path)}`);
  return JSON.stringify([
    session.read(items),
    session.resources.get(counter).n,
    files,
    await session.filesystem.list(),
  ]);
}

function freshSession(): Session {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const session = createSession({
    slices: [items],
    resources: [counter],
    filesystem: memoryFilesystem({ files: { 'a.txt': 'kept' } }),
    logger: quiet,
  });
  session.resources.get(counter);
  return session;
}

function assertWhole({ outcome, callId, startedAt, endedAt }: Settlement): void {
  expect(['ok', 'error', 'pending']).toContain(outcome.status);
  expect(typeof outcome.text).toBe('string');
  expect([typeof callId, endedAt >= startedAt]).toEqual(['string', true]);
  if (outcome.status === 'error') expect([typeof outcome.code, typeof outcome.message]).toEqual(['string', 'string']);
}

// Some of them time out; the busier the machine, the more of them.
test('[T23, T27] no generated bad tool makes dispatch throw or leaves a write behind', async () => {
  await fc.assert(
    fc.asyncProperty(badTool, async (bad) => {
      const session = freshSession();
      const clock = fakeClock();
      const before = await fingerprint(session);
      const execute = async (ctx: ToolContext): Promise<void> => {
        // A tool without effects has no undo for resources: nothing is saved for it (T34).
        for (const act of bad.acts) if (act !== 'count' || bad.effects !== 'none') await acts[act]?.(ctx);
      };
      const end = ends[bad.end] as End;
      const value = values[bad.value] as () => unknown;
      const probe = tool({
        description: 'd',
        inputSchema: z.object({}),
        effects: bad.effects,
        terminal: bad.terminal,
        timeoutMs: 10,
        ...(bad.render === undefined ? {} : { render: bad.render }),
        execute: bad.end.startsWith('generator')
          ? async function* (_input: unknown, ctx: ToolContext) {
              await execute(ctx);
              yield* end(value) as AsyncIterable<unknown>;
            }
          : bad.acts.length === 0
            ? () => end(value)
            : async (_input: unknown, ctx: ToolContext) => {
                await execute(ctx);
                return end(value);
              },
      });
      const events: string[] = [];
      const running = dispatchCall({
        tools: { probe },
        call: { toolName: 'probe' },
        session,
        clock,
        onEvent: (event) => events.push(event.type),
      });
      let settlement: Settlement | undefined;
      void running.then(
        (done) => (settlement = done),
        () => {},
      );
      for (let turn = 0; turn < 6 && settlement === undefined; turn++) await settled();
      await clock.advance(10);
      settlement = await running;
      assertWhole(settlement);
      expect(events.filter((type) => type !== 'tool-call.progress')).toHaveLength(2);
      if (settlement.outcome.status === 'error') expect(await fingerprint(session)).toBe(before);
      // The session goes on working, and a late write of the tool changes nothing.
      await settled();
      const after = await fingerprint(session);
      await settled();
      expect(await fingerprint(session)).toBe(after);
      const next = await dispatchCall({
        tools: { next: tool({ description: 'd', inputSchema: z.object({}), execute: () => 'next' }) },
        call: { toolName: 'next' },
        session,
      });
      expect(next.outcome.status).toBe('ok');
    }),
    { numRuns: 500 },
  );
});

test('[T17] no generated bad input makes dispatch throw or reaches execute unparsed', async () => {
  const schema = z.object({
    a: z.string(),
    n: z.number().optional(),
    deep: z.object({ list: z.array(z.boolean()) }).optional(),
  });
  const seen: unknown[] = [];
  const tools = {
    zod: tool({ description: 'd', inputSchema: schema, execute: (input) => void seen.push(input) }),
    json: tool({
      description: 'd',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'string' }, deep: { type: 'object', properties: {} } },
        required: ['a'],
      },
      execute: (input) => void seen.push(input),
    }),
    foreign: { inputSchema: schema, execute: (input: unknown) => void seen.push(input) },
  };
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
  });
  const input = fc.oneof(
    fc.string(),
    fc.json(),
    anything,
    fc.record({ a: fc.string(), extra: anything }),
    fc.constantFrom('(proxy)', '(cycle)'),
  );
  const hostile = new Map<unknown, () => unknown>([
    ['(proxy)', hostileProxy],
    ['(cycle)', cycle],
  ]);
  const toolName = fc.oneof(fc.constantFrom('zod', 'json', 'foreign'), fc.string());
  await fc.assert(
    fc.asyncProperty(toolName, input, async (called, given) => {
      seen.length = 0;
      const settlement = await dispatchCall({
        tools,
        call: { toolName: called, input: hostile.get(given)?.() ?? given },
      });
      assertWhole(settlement);
      if (settlement.outcome.status === 'error') expect(seen).toEqual([]);
      else if (called !== 'json') expect(schema.strict().safeParse(seen[0]).success).toBe(true);
    }),
    { numRuns: 750 },
  );
});
