import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  createSession,
  dispatchCall,
  fail,
  resource,
  Session,
  SessionError,
  type Slice,
  secret,
  slice,
  type ToolContext,
  tool,
} from '../../src/index.ts';
import { settled } from '../../src/testing/fake-clock.ts';

interface Added {
  readonly type: 'added';
  readonly item: string;
}
const items = slice<readonly string[]>('items', {
  initial: [],
  on: { added: (all, { item }: Added) => [...all, item] },
});
const total = slice('total', { initial: 0, on: { added: (n: number) => n + 1 } });
const none = z.object({});
const probing = (execute: (ctx: ToolContext) => unknown, more: object = {}) => ({
  probe: tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...more }),
});
const call = { toolName: 'probe' };
const add = (item: string): Added => ({ type: 'added', item });

test('events reach every slice that handles them, and subscribers', () => {
  const session = createSession({ slices: [items, total] });
  const told: unknown[] = [];
  session.subscribe<Added>('added', (event) => told.push(event.item));
  session.dispatch(add('a'));
  expect(() => session.dispatch({ type: 'constructor' })).toThrow(SessionError);
  expect([session.read(items), session.read(total), told]).toEqual([['a'], 1, ['a']]);
});

test("subscribers get a call's events once it is committed, and never those it rolled back", async () => {
  const session = createSession({ slices: [items] });
  const told: unknown[] = [];
  session.subscribe<Added>('added', (event) => told.push(event.item));
  const write = (item: string, end: unknown) =>
    probing((ctx) => (ctx.session.dispatch(add(item)), expect(told).not.toContain(item), end));
  await dispatchCall({ tools: write('kept', 'fine'), call, session });
  await dispatchCall({ tools: write('lost', fail('x')), call, session });
  expect(told).toEqual(['kept']);
});

test('[T30] a snapshot copies nothing at any size, and a rollback restores the old reference', () => {
  for (const size of [10, 1_000, 100_000]) {
    const big = slice<readonly { n: number }[]>('big', {
      initial: Array.from({ length: size }, (_, n) => ({ n })),
      on: { added: (all) => [...all, { n: -1 }] },
    });
    const session = createSession({ slices: [big] });
    const before = session.read(big);
    const snapshot = session.snapshot();
    session.dispatch(add('x'));
    expect(session.read(big)).toHaveLength(size + 1);
    session.restore(snapshot);
    expect(session.read(big)).toBe(before);
  }
});

test('[T30] after a failed call the state is the same object as before', async () => {
  const session = createSession({ slices: [items] });
  session.dispatch(add('a'));
  const before = session.read(items);
  await dispatchCall({ tools: probing((ctx) => (ctx.session.dispatch(add('b')), fail('x'))), call, session });
  expect(session.read(items)).toBe(before);
});

test('a snapshot of another session is refused', () => {
  const session = createSession({ slices: [items] });
  expect(() => session.restore(createSession({ slices: [items] }).snapshot())).toThrow(SessionError);
  expect(() => session.restore({} as never)).toThrow(SessionError);
});

test('[T35] two calls with effects on one session never interleave: the second waits, in order', async () => {
  const session = createSession({ slices: [items] });
  const order: string[] = [];
  const slow = (name: string) =>
    probing(async (ctx) => {
      order.push(`${name} in`);
      ctx.session.dispatch(add(`${name}${ctx.session.read(items).length}`));
      await settled();
      order.push(`${name} out`);
    });
  await Promise.all(['a', 'b', 'c'].map((name) => dispatchCall({ tools: slow(name), call, session })));
  expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  expect(session.read(items)).toEqual(['a0', 'b1', 'c2']);
});

test('[T35] calls without effects run in parallel with each other, but not with a call with effects', async () => {
  const session = createSession({ slices: [items] });
  const running = new Set<string>();
  const seen: string[] = [];
  const one = (name: string, effects: string) =>
    dispatchCall({
      tools: probing(
        async () => {
          running.add(name);
          seen.push([...running].join());
          await settled();
          running.delete(name);
        },
        { effects },
      ),
      call,
      session,
    });
  await Promise.all([one('r1', 'none'), one('r2', 'none'), one('w', 'session'), one('r3', 'none')]);
  expect(seen).toEqual(['r1', 'r1,r2', 'w', 'r3']);
});

test('[T35] a call that waits for its turn keeps its limits, and leaves the queue in order', async () => {
  const session = createSession();
  const gate = Promise.withResolvers<void>();
  const first = dispatchCall({ tools: probing(() => gate.promise), call, session });
  const abort = new AbortController();
  const second = dispatchCall({ tools: probing(() => 'ran'), call, session, signal: abort.signal });
  const third = dispatchCall({ tools: probing(() => 'third'), call, session });
  await settled();
  abort.abort();
  expect((await second).outcome).toMatchObject({ code: 'aborted' });
  gate.resolve();
  expect((await first).outcome.status).toBe('ok');
  expect((await third).outcome).toMatchObject({ value: 'third' });
});

test("[T35] a nested call joins its parent's draft: it sees its writes, and is rolled back with it", async () => {
  const session = createSession({ slices: [items] });
  const inner = (end: unknown) =>
    probing((ctx) => (ctx.session.dispatch(add(`inner after ${ctx.session.read(items).join()}`)), end));
  const outer = (end: unknown) =>
    probing(async (ctx) => {
      ctx.session.dispatch(add('outer'));
      await dispatchCall({ tools: inner('fine'), call, session: ctx.session });
      await dispatchCall({ tools: inner(fail('x')), call, parent: ctx });
      expect(ctx.session.read(items)).toEqual(['outer', 'inner after outer']);
      return end;
    });
  await dispatchCall({ tools: outer(fail('x')), call, session });
  expect(session.read(items)).toEqual([]);
  await dispatchCall({ tools: outer('fine'), call, session });
  expect(session.read(items)).toEqual(['outer', 'inner after outer']);
});

test('[T35] a host that writes while a call runs gets an error, and may read', async () => {
  const session = createSession({ slices: [items] });
  const snapshot = session.snapshot();
  const gate = Promise.withResolvers<void>();
  const running = dispatchCall({
    tools: probing((ctx) => (ctx.session.dispatch(add('a')), gate.promise)),
    call,
    session,
  });
  await settled();
  expect(() => session.dispatch(add('host'))).toThrow('while a call is running');
  expect(() => session.restore(snapshot)).toThrow(SessionError);
  expect(session.read(items)).toEqual([]);
  gate.resolve();
  await running;
  session.dispatch(add('host'));
  expect(session.read(items)).toEqual(['a', 'host']);
});

test('[T36] a session survives toJSON and fromJSON unchanged, also as text', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const any = slice<readonly unknown[]>('any', {
        initial: [],
        on: { put: (all, { value }: { type: string; value: unknown }) => [...all, value] },
      });
      const session = createSession({ slices: [any, total] });
      for (const value of values) session.dispatch({ type: 'put', value: JSON.parse(JSON.stringify(value)) });
      for (const stored of [session.toJSON(), JSON.stringify(session)]) {
        const again = Session.fromJSON(stored, { slices: [any, total] });
        expect(again.read(any)).toEqual(session.read(any));
        expect(again.toJSON()).toEqual(session.toJSON());
      }
    }),
  );
});

test('[T36] changing the JSON after a restore does not change the session', () => {
  const session = createSession({ slices: [items] });
  session.dispatch(add('a'));
  const stored = JSON.parse(JSON.stringify(session)) as { slices: { items: { state: string[] } } } & ReturnType<
    Session['toJSON']
  >;
  const again = Session.fromJSON(stored, { slices: [items] });
  stored.slices.items.state.push('b');
  expect(again.read(items)).toEqual(['a']);
  again.dispatch(add('c'));
  expect(again.read(items)).toEqual(['a', 'c']);
});

test.each([
  ['an unknown slice', { version: 1, slices: { gone: { version: 1, state: 1 } } }, '"gone"'],
  ['another version of a slice', { version: 1, slices: { items: { version: 2, state: [] } } }, /"items".*2/],
  ['another version of the format', { version: 9, slices: {} }, 'version 1'],
  ['no slices', { version: 1 }, 'slices'],
  ['a slice without a state', { version: 1, slices: { items: { version: 1 } } }, '"items"'],
  ['nothing', null, 'version 1'],
  ['half a JSON', '{"version":', 'not JSON'],
])('[T36] %s is refused, naming it', (_what, json, message) => {
  expect(() => Session.fromJSON(json as never, { slices: [items] })).toThrow(SessionError);
  expect(() => Session.fromJSON(json as never, { slices: [items] })).toThrow(message);
});

test('[T36] state that JSON would lose is refused when it is stored, naming slice and place', () => {
  const any = slice<unknown>('any', {
    initial: null,
    on: { put: (_old, { value }: { type: string; value: unknown }) => value },
  });
  for (const value of [Number.NaN, 5n, () => 1, { deep: [Number.POSITIVE_INFINITY] }, [undefined]]) {
    const session = createSession({ slices: [any] });
    session.dispatch({ type: 'put', value });
    expect(() => session.toJSON()).toThrow(/"any" cannot be stored/);
  }
  const session = createSession({ slices: [any] });
  expect(() => session.dispatch({ type: 'put', value: { token: secret('x') } })).toThrow('token');
});

test('definitions that cannot work are refused', () => {
  expect(() => slice('', { initial: 0, on: {} })).toThrow(SessionError);
  expect(() => slice('a', { initial: 0, on: { x: 5 as never } })).toThrow('on.x');
  expect(() => slice('a', { initial: 0, policy: 'keep' as never, on: {} })).toThrow("'state' or 'log'");
  expect(() => resource('', { create: () => 1 })).toThrow('key');
  expect(() => resource('a', { scope: 'forever' as never, create: () => 1 })).toThrow('scope');
  expect(() => resource('a', { create: () => 1, snapshot: () => 1 })).toThrow('restore');
  expect(() => createSession({ slices: [items, slice('items', { initial: 0, on: {} })] })).toThrow('"items"');
  expect(() => createSession({ slices: [5 as never] })).toThrow('slices[0]');
  expect(() => createSession().resources.get('nothing')).toThrow('"nothing"');
  const a: ReturnType<typeof resource<unknown>> = resource<unknown>('a', {
    create: ({ resources }) => resources.get('b'),
  });
  const b = resource<unknown>('b', { create: ({ resources }) => resources.get('a') });
  expect(() => createSession({ resources: [a, b] }).resources.get('a')).toThrow('a → b → a');
  expect(() => createSession().dispatch({ type: 'ToolInvoked' })).toThrow('Only the runtime');
});

test('a disposed session disposes of its resources and refuses calls', async () => {
  const log: string[] = [];
  const db = resource('db', { create: () => 'db', dispose: (value) => void log.push(value) });
  const session = createSession({ resources: [db] });
  session.resources.get(db);
  await session.dispose();
  expect(log).toEqual(['db']);
  await expect(dispatchCall({ tools: probing(() => 1), call, session })).rejects.toThrow('session');
});

test('a slice that a host registers during a call is registered after it too', async () => {
  const session = createSession({ slices: [items] });
  const gate = Promise.withResolvers<void>();
  const running = dispatchCall({
    tools: probing((ctx) => (ctx.session.dispatch(add('a')), gate.promise)),
    call,
    session,
  });
  await settled();
  session.register(total);
  gate.resolve();
  await running;
  session.dispatch(add('b'));
  expect([session.read(items), session.read(total)]).toEqual([['a', 'b'], 1]);
});

test('the name of a slice is in its type, unless the state is given as a type argument', () => {
  const cart = slice('cart', { initial: [] as readonly string[], on: {} });
  expectTypeOf(cart).toEqualTypeOf<Slice<readonly string[], 'cart'>>();
  expectTypeOf(cart).toExtend<Slice<readonly string[]>>();
  expectTypeOf(slice<number>('count', { initial: 0, on: {} })).toEqualTypeOf<Slice<number>>();
});
