import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Filesystem, memoryFilesystem } from '../../src/doors/files.ts';
import {
  type Answer,
  createBudget,
  createSession,
  dispatchCall,
  fail,
  type Middleware,
  ok,
  type Policy,
  pending,
  requires,
  resource,
  slice,
  type ToolContext,
  tool,
} from '../../src/index.ts';
import type { SessionOptions } from '../../src/session/create-session.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';

// Each of these was once a bug: a write left behind, a session lost, a call that hung, or one that ran when it must not.

const none = z.object({});
const call = { toolName: 'probe' };
const count = slice('count', { initial: 0, on: { counted: (n: number) => n + 1 } });
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const probing = (execute: (ctx: ToolContext) => unknown, more: object = {}) => ({
  probe: tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...more }),
});
const counting = (ctx: ToolContext): void => ctx.session.dispatch({ type: 'counted' });
const never = (): Promise<never> => new Promise(() => {});
const session = (more: SessionOptions = {}) => createSession({ slices: [count], logger: quiet, ...more });
const boxed = () =>
  resource('box', { create: () => ({ v: 0 }), snapshot: ({ v }) => v, restore: (box, v) => void (box.v = v) });

test('[T27, T31] a timeout inside a nested call rolls back both calls, the inner one first', async () => {
  const slow = resource('box', {
    create: () => ({ v: 0 }),
    snapshot: ({ v }) => v,
    restore: async (box, v) => {
      await settled();
      box.v = v;
    },
  });
  const clock = fakeClock();
  const on = session({ resources: [slow], filesystem: memoryFilesystem({ files: { 'a.txt': 'kept' } }) });
  const box = on.resources.get(slow);
  const inner = probing(async (ctx) => {
    ctx.resources.get(slow).v = 2;
    await ctx.filesystem.writeText('a.txt', 'inner');
    await never();
  });
  const outer = probing(
    async (ctx) => {
      ctx.resources.get(slow).v = 1;
      await ctx.filesystem.writeText('a.txt', 'outer');
      await dispatchCall({ tools: inner, call, parent: ctx });
    },
    { timeoutMs: 20 },
  );
  const running = dispatchCall({ tools: outer, call, session: on, clock });
  for (let turn = 0; turn < 8; turn++) await settled();
  await clock.advance(20);
  expect((await running).outcome).toMatchObject({ code: 'timeout' });
  expect(box.v).toBe(0);
  expect(await on.filesystem.readText('a.txt')).toBe('kept');
  for (let turn = 0; turn < 8; turn++) await settled();
  expect(box.v).toBe(0);
  expect((await dispatchCall({ tools: probing(() => 1), call, session: on })).outcome.status).toBe('ok');
});

/** A file system whose undo waits until `letGo` is called. */
function slowUndo(): { readonly filesystem: Filesystem; readonly undoing: Promise<void>; readonly letGo: () => void } {
  const base = memoryFilesystem();
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const capture: Filesystem['capture'] = async (path) => {
    const undo = await base.capture(path);
    return async () => {
      begun.resolve();
      await gate.promise;
      await undo();
    };
  };
  return { filesystem: { ...base, capture }, undoing: begun.promise, letGo: () => gate.resolve() };
}

test('[T27] a limit that hits while a failed run is being rolled back waits for the rollback', async () => {
  const clock = fakeClock();
  const { filesystem, undoing, letGo } = slowUndo();
  const on = session({ filesystem });
  let done = false;
  const failing = probing(
    async (ctx) => {
      await ctx.filesystem.writeText('a.txt', 'x');
      throw new Error('half-way');
    },
    { timeoutMs: 20 },
  );
  const running = dispatchCall({ tools: failing, call, session: on, clock }).finally(() => {
    done = true;
  });
  await undoing;
  await clock.advance(20);
  await settled();
  expect(done).toBe(false);
  letGo();
  expect((await running).outcome.status).toBe('error');
  expect(await on.filesystem.list()).toEqual([]);
});

test('[T29, T32] an event of a policy that a reducer refuses fails the call and does not poison the session', async () => {
  const picky = slice('picky', {
    initial: 0,
    on: {
      bad: () => {
        throw new Error('refused');
      },
    },
  });
  const recording: Policy = { name: 'recording', afterCall: (_call, ctx) => ctx.record({ type: 'bad' }) };
  const on = session({ slices: [count, picky], filesystem: memoryFilesystem({ files: { 'a.txt': 'x' } }) });
  const reading = (effects: string) =>
    probing((ctx) => ctx.filesystem.readText('a.txt'), { effects, policies: [recording] });
  for (const effects of ['none', 'session']) {
    const { outcome } = await dispatchCall({ tools: reading(effects), call, session: on });
    expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('refused') });
  }
  // Such a call does not count as a success either.
  const after = await dispatchCall({
    tools: probing(() => 1),
    call,
    session: on,
    policies: [requires({ probe: ['probe'] })],
  });
  expect(after.outcome).toMatchObject({ code: 'denied' });
});

test('[T35] a nested call that was not awaited ends with its parent, and leaves nothing', async () => {
  const box = boxed();
  const on = session({ resources: [box], filesystem: memoryFilesystem() });
  const value = on.resources.get(box);
  const ended: unknown[] = [];
  const inner = probing(async (ctx) => {
    counting(ctx);
    ctx.resources.get(box).v = 7;
    await ctx.filesystem.writeText('inner.txt', 'x');
    await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
    throw new Error('told to stop');
  });
  const outer = probing(async (ctx) => {
    counting(ctx);
    void dispatchCall({ tools: inner, call, parent: ctx }).then(({ outcome }) => ended.push(outcome.status));
    await settled();
    await settled();
    return 'done';
  });
  expect((await dispatchCall({ tools: outer, call, session: on })).outcome.status).toBe('ok');
  for (let turn = 0; turn < 6; turn++) await settled();
  expect([on.read(count), value.v, await on.filesystem.list(), ended]).toEqual([1, 0, [], ['error']]);
  expect((await dispatchCall({ tools: probing(counting), call, session: on })).outcome.status).toBe('ok');
});

test('[T35] passing the session inside a call joins the draft of the call instead of waiting for itself', async () => {
  const on = session();
  const outer = probing(async (ctx) => {
    await dispatchCall({ tools: probing(counting), call, parent: ctx, session: on });
    return fail('undo it');
  });
  expect((await dispatchCall({ tools: outer, call, session: on })).outcome.status).toBe('error');
  expect(on.read(count)).toBe(0);
});

test('[T35] a context that a wrapper spread is still the parent; an object that only resembles one is refused', async () => {
  const on = session();
  const outer = probing(async (ctx) => {
    expect({ ...ctx }).toMatchObject({ toolCallId: ctx.toolCallId, toolName: 'probe', attempt: 1 });
    await dispatchCall({ tools: probing(counting), call, parent: { ...ctx } });
  });
  await dispatchCall({ tools: outer, call, session: on });
  expect(on.read(count)).toBe(1);
  const pretended = { session: on, abortSignal: new AbortController().signal } as never;
  await expect(dispatchCall({ tools: probing(counting), call, parent: pretended })).rejects.toMatchObject({
    field: 'parent',
  });
});

test('[T37] a resource whose creation never ends does not keep a call from settling', async () => {
  const clock = fakeClock();
  const stuck = resource('stuck', { create: never, snapshot: () => 0, restore: () => {} });
  const on = session({ resources: [stuck] });
  await dispatchCall({ tools: probing((ctx) => void ctx.resources.get(stuck)), call, session: on });
  const running = dispatchCall({
    tools: probing((ctx) => ctx.resources.get(stuck), { timeoutMs: 20 }),
    call,
    session: on,
    clock,
  });
  await settled();
  await clock.advance(20);
  expect((await running).outcome).toMatchObject({ code: 'timeout' });
});

test('[T34] a tool without effects cannot write through a call it makes', async () => {
  const on = session();
  const inner: unknown[] = [];
  const outer = probing(
    async (ctx) => {
      inner.push((await dispatchCall({ tools: probing(counting), call, parent: ctx })).outcome.status);
    },
    { effects: 'none' },
  );
  await dispatchCall({ tools: outer, call, session: on });
  expect([inner, on.read(count)]).toEqual([['error'], 0]);
});

test('[T34] a write to a file that a tool without effects caught fails it all the same', async () => {
  const on = session({ filesystem: memoryFilesystem() });
  const tools = probing((ctx) => ctx.filesystem.writeText('a', 'x').catch(() => 'pretends'), { effects: 'none' });
  expect((await dispatchCall({ tools, call, session: on })).outcome).toMatchObject({ code: 'execution' });
});

test('[T22] only { approve: true } approves a call', async () => {
  let runs = 0;
  const tools = probing(() => ++runs, { approval: true });
  for (const answer of [{ approve: false }, { approve: 'no' }, {}, null, { deny: 42 }, { approve: true, deny: 'x' }]) {
    await expect(dispatchCall({ tools, call, answer: answer as never })).rejects.toMatchObject({ field: 'answer' });
  }
  expect(runs).toBe(0);
});

test('a call that needed approval and then waits for a result takes its result', async () => {
  const tools = probing(() => pending(), { approval: true });
  const asked = async (answer?: Answer) =>
    (await dispatchCall(answer === undefined ? { tools, call } : { tools, call, answer })).outcome;
  expect(await asked()).toMatchObject({ status: 'pending', kind: 'approval' });
  expect(await asked({ approve: true })).toMatchObject({ status: 'pending', kind: 'result' });
  expect(await asked({ result: 42 })).toMatchObject({ status: 'ok', value: 42 });
  const unrun = { probe: tool({ description: 'd', inputSchema: none }) };
  expect((await dispatchCall({ tools: unrun, call, answer: { result: 1 } })).outcome).toMatchObject({ value: 1 });
});

test('[T38] middleware that answers before the tool has ended commits nothing of the tool', async () => {
  const on = session();
  const gate = Promise.withResolvers<void>();
  const impatient: Middleware = { name: 'impatient', call: (next) => Promise.race([next(), 'fallback']) };
  const tools = probing(async (ctx) => {
    counting(ctx);
    await gate.promise;
    counting(ctx);
    throw new Error('late');
  });
  expect((await dispatchCall({ tools, call, session: on, middleware: [impatient] })).outcome).toMatchObject({
    value: 'fallback',
  });
  gate.resolve();
  await settled();
  expect(on.read(count)).toBe(0);
});

test('[T37] middleware that retries for ever ends with the call', async () => {
  const clock = fakeClock();
  let tries = 0;
  const stubborn: Middleware = {
    name: 'stubborn',
    async call(next) {
      for (;;) {
        try {
          tries++;
          return await next();
        } catch {
          await settled();
        }
      }
    },
  };
  const running = dispatchCall({
    tools: probing(
      () => {
        throw new Error('again');
      },
      { timeoutMs: 20 },
    ),
    call,
    session: session(),
    clock,
    middleware: [stubborn],
  });
  await settled();
  await settled();
  await clock.advance(20);
  expect((await running).outcome).toMatchObject({ code: 'timeout' });
  await settled();
  const ended = tries;
  for (let turn = 0; turn < 5; turn++) await settled();
  expect(tries).toBe(ended);
});

test.each(['a timeout', 'an abort'])(
  '[T37] middleware that calls next() in its abort listener does not start the tool (%s)',
  async (how) => {
    const clock = fakeClock();
    const abort = new AbortController();
    let runs = 0;
    let asked = 0;
    const persistent: Middleware = {
      name: 'persistent',
      async call(next, _call, { abortSignal }) {
        await next().catch(() => {});
        return await new Promise((resolve, reject) => {
          abortSignal.addEventListener('abort', () => {
            asked++;
            next().then(resolve, reject);
          });
        });
      },
    };
    const failing = (): never => {
      runs++;
      throw new Error('again');
    };
    const running = dispatchCall({
      tools: probing(failing, { timeoutMs: 20 }),
      call,
      session: session(),
      clock,
      signal: abort.signal,
      middleware: [persistent],
    });
    await settled();
    expect([runs, asked]).toEqual([1, 0]);
    if (how === 'an abort') abort.abort();
    else await clock.advance(20);
    expect((await running).outcome).toMatchObject({ code: how === 'an abort' ? 'aborted' : 'timeout' });
    await settled();
    expect([runs, asked]).toEqual([1, 1]);
  },
);

test('[T27] each run that a middleware starts begins from a clean state and its own arguments', async () => {
  const on = session();
  const seen: unknown[] = [];
  const twice: Middleware = {
    name: 'twice',
    async call(next) {
      await next().catch(() => {});
      return await next();
    },
  };
  const probe = tool({
    description: 'd',
    inputSchema: z.object({ list: z.array(z.number()) }),
    execute({ list }, ctx) {
      seen.push([ctx.attempt, [...list], ctx.session.read(count)]);
      list.push(9);
      counting(ctx);
      if (ctx.attempt === 1) throw new Error('once');
      return 'fine';
    },
  });
  await dispatchCall({
    tools: { probe },
    call: { toolName: 'probe', input: { list: [1] } },
    session: on,
    middleware: [twice],
  });
  expect(seen).toEqual([
    [1, [1], 0],
    [2, [1], 0],
  ]);
  expect(on.read(count)).toBe(1);
});

test('[T27] middleware that turns a failed run into a success commits nothing of that run', async () => {
  const on = session();
  const forgiving: Middleware = { name: 'forgiving', call: (next) => next().catch(() => 'never mind') };
  const tools = probing((ctx) => {
    counting(ctx);
    throw new Error('x');
  });
  expect((await dispatchCall({ tools, call, session: on, middleware: [forgiving] })).outcome).toMatchObject({
    value: 'never mind',
  });
  expect(on.read(count)).toBe(0);
});

test('[T28] the end of a call is not lost if another call runs at the same time', async () => {
  const ends = slice<string[]>('ends', {
    initial: [],
    policy: 'log',
    on: { ToolInvoked: (all, { toolName }: { type: string; toolName: string }) => [...all, toolName] },
  });
  const on = session({ slices: [count, ends] });
  const gate = Promise.withResolvers<void>();
  const running = dispatchCall({ tools: probing((ctx) => (counting(ctx), gate.promise)), call, session: on });
  await settled();
  await dispatchCall({ tools: {}, call: { toolName: 'nobody' }, session: on });
  gate.resolve();
  await running;
  expect([on.read(ends).toSorted(), on.read(count)]).toEqual([['nobody', 'probe'], 1]);
});

test('[T31] parallel calls without effects end up with one singleton, and the others are disposed of', async () => {
  const log: string[] = [];
  let made = 0;
  const db = resource('db', { create: () => `db${++made}`, dispose: (one) => void log.push(one) });
  const on = session({ resources: [db] });
  const tools = probing(async (ctx) => (ctx.resources.get(db), await settled()), { effects: 'none' });
  await Promise.all([1, 2, 3].map(() => dispatchCall({ tools, call, session: on })));
  expect(made - log.length).toBe(1);
  await on.dispose();
  expect(log.toSorted()).toEqual(['db1', 'db2', 'db3'].slice(0, made));
});

test('[T31] a singleton made from one that a parallel call built first does not stay without it', async () => {
  const log: string[] = [];
  let made = 0;
  const db = resource('db', { create: () => `db${++made}`, dispose: (one) => void log.push(one) });
  const users = resource('users', {
    create: ({ resources }) => `users of ${resources.get(db)}`,
    dispose: (one) => void log.push(one),
  });
  const on = session({ resources: [db, users] });
  const using = (use: (ctx: ToolContext) => unknown) =>
    dispatchCall({
      tools: probing(async (ctx) => (use(ctx), await settled()), { effects: 'none' }),
      call,
      session: on,
    });
  await Promise.all([using((ctx) => ctx.resources.get(db)), using((ctx) => ctx.resources.get(users))]);
  expect(log).toEqual(['users of db2', 'db2']);
  const asked = await dispatchCall({ tools: probing((ctx) => ctx.resources.get(users)), call, session: on });
  expect(asked.outcome).toMatchObject({ value: 'users of db1' });
});

test('[T31] a singleton whose creation fails after its call has ended is forgotten', async () => {
  let tries = 0;
  const gate = Promise.withResolvers<void>();
  const flaky = resource('flaky', {
    create: async () => {
      if (++tries > 1) return 'works';
      await gate.promise;
      throw new Error('first time');
    },
  });
  const on = session({ resources: [flaky] });
  await dispatchCall({ tools: probing((ctx) => void ctx.resources.get(flaky).catch(() => {})), call, session: on });
  gate.resolve();
  await settled();
  expect(
    (await dispatchCall({ tools: probing((ctx) => ctx.resources.get(flaky)), call, session: on })).outcome,
  ).toMatchObject({
    value: 'works',
  });
});

test('[T31] a resource requested by an approval function or a middleware is disposed of', async () => {
  const log: string[] = [];
  const lamp = resource('lamp', { scope: 'call', create: () => 'lamp', dispose: (one) => void log.push(one) });
  const on = session({ resources: [lamp] });
  const asking = probing(() => 1, {
    approval: (_input: unknown, ctx: ToolContext) => (ctx.resources.get(lamp), false),
  });
  await dispatchCall({ tools: asking, call, session: on });
  expect(log).toEqual(['lamp']);
  const lit: Middleware = { name: 'lit', call: (next, _call, ctx) => (ctx.resources.get(lamp), next()) };
  await dispatchCall({ tools: probing(() => 1), call, session: on, middleware: [lit] });
  expect(log).toEqual(['lamp', 'lamp']);
});

test('[T31] changes of a nested call are rolled back with its parent, to the state at the start of the parent', async () => {
  const box = boxed();
  const on = session({ resources: [box] });
  const value = on.resources.get(box);
  const inner = probing((ctx) => void (ctx.resources.get(box).v = 2));
  for (const first of [true, false]) {
    const outer = probing(async (ctx) => {
      if (first) ctx.resources.get(box).v = 1;
      await dispatchCall({ tools: inner, call, parent: ctx });
      return fail('x');
    });
    await dispatchCall({ tools: outer, call, session: on });
    expect(value.v).toBe(0);
  }
});

test('[T27] files that a nested call wrote are undone with its parent', async () => {
  const on = session({ filesystem: memoryFilesystem({ files: { 'a.txt': 'kept' } }) });
  const inner = (end: unknown) => probing(async (ctx) => (await ctx.filesystem.writeText('a.txt', 'inner'), end));
  const outer = probing(async (ctx) => {
    await ctx.filesystem.writeText('a.txt', 'outer');
    await dispatchCall({ tools: inner(fail('x')), call, parent: ctx });
    expect(await ctx.filesystem.readText('a.txt')).toBe('outer');
    await dispatchCall({ tools: inner('ok'), call, parent: ctx });
    expect(await ctx.filesystem.readText('a.txt')).toBe('inner');
    return fail('x');
  });
  expect((await dispatchCall({ tools: outer, call, session: on })).outcome).toMatchObject({ message: 'x' });
  expect(await on.filesystem.readText('a.txt')).toBe('kept');
});

test('[T27] the file system asked for as a resource is rolled back too', async () => {
  const base = memoryFilesystem();
  const on = session({ resources: [resource('filesystem', { create: () => base })] });
  on.resources.get('filesystem');
  const tools = probing(async (ctx) => {
    await (ctx.resources.get('filesystem') as Filesystem).writeText('a.txt', 'x');
    return fail('x');
  });
  await dispatchCall({ tools, call, session: on });
  expect(await base.list()).toEqual([]);
});

test('[T32] files that cannot be restored poison the session', async () => {
  const base = memoryFilesystem();
  const capture: Filesystem['capture'] = async () => async () => {
    throw new Error('disk gone');
  };
  const on = session({ filesystem: { ...base, capture } });
  const failing = probing(async (ctx) => (await ctx.filesystem.writeText('a.txt', 'x'), fail('x')));
  await expect(dispatchCall({ tools: failing, call, session: on })).rejects.toMatchObject({ name: 'RestoreFailed' });
  await expect(dispatchCall({ tools: probing(() => 1), call, session: on })).rejects.toThrow('poisoned');
});

test('[T22] the policies of the run and of the tool both hold, and judge a session they cannot write to', async () => {
  const asked: string[] = [];
  const named = (name: string, deny?: string): Policy => ({
    name,
    beforeCall(_call, { session: given }) {
      asked.push(name);
      expect(() => given.dispatch({ type: 'counted' })).toThrow("effects: 'none'");
      return deny === undefined ? undefined : { deny };
    },
  });
  const on = session();
  const tools = probing(() => 1, { policies: [named('tool')] });
  const run = async (policy: Policy) => (await dispatchCall({ tools, call, session: on, policies: [policy] })).outcome;
  expect(await run(named('run'))).toMatchObject({ status: 'ok' });
  expect(asked).toEqual(['run', 'tool']);
  expect(await run(named('strict', 'no'))).toMatchObject({ code: 'denied' });
  expect(on.read(count)).toBe(0);
});

test('[T21] a policy sees the value parsed by the output schema, and cannot break the session', async () => {
  const values: unknown[] = [];
  const seeing: Policy = { name: 'seeing', afterCall: ({ value }) => void values.push(value) };
  const outputSchema = z.object({ n: z.number().default(5) });
  await dispatchCall({ tools: probing(() => ok({}), { outputSchema, policies: [seeing] }), call });
  expect(values).toEqual([{ n: 5 }]);
  const breaking: Policy = {
    name: 'breaking',
    afterCall(_call, ctx) {
      try {
        ctx.session.dispatch({ type: 'counted' });
      } catch {}
    },
  };
  const on = session();
  const tools = probing(() => 'fine', { effects: 'none', policies: [breaking] });
  expect((await dispatchCall({ tools, call, session: on })).outcome).toMatchObject({ code: 'execution' });
});

test('[T25] middleware cannot stop a signal from reaching the host', async () => {
  const { VisibilityExpansionRequired } = await import('../../src/index.ts');
  const signal = new VisibilityExpansionRequired('open it');
  const swallowing: Middleware = { name: 'swallowing', call: (next) => next().catch(() => 'nothing happened') };
  const tools = probing(() => {
    throw signal;
  });
  await expect(dispatchCall({ tools, call, middleware: [swallowing] })).rejects.toBe(signal);
});

test('[T26] a pending call dispatches no ToolInvoked; an asynchronous listener that rejects is reported', async () => {
  const reports: unknown[] = [];
  const logger = { ...quiet, error: (_message: string, error: unknown) => void reports.push(error) };
  const on = session({ logger });
  const told: unknown[] = [];
  on.subscribe('ToolInvoked', (event) => told.push(event.outcome.status));
  const rejecting = async (): Promise<void> => {
    throw new Error('async listener');
  };
  await dispatchCall({ tools: probing(() => pending()), call, session: on, onEvent: rejecting as () => void });
  await settled();
  expect(told).toEqual([]);
  expect(reports.length).toBeGreaterThan(0);
});

test('[T28] an object that was refused once is refused again', async () => {
  const items = slice<unknown[]>('items', {
    initial: [],
    on: { added: (all, { item }: { type: string; item: unknown }) => [...all, item] },
  });
  const on = session({ slices: [items] });
  const item = { deep: new Map() };
  for (let time = 0; time < 2; time++) expect(() => on.dispatch({ type: 'added', item })).toThrow('a Map');
});

test('[T35] a call that leaves the queue lets the next one in', async () => {
  const on = session();
  const gate = Promise.withResolvers<void>();
  const first = dispatchCall({ tools: probing(() => gate.promise, { effects: 'none' }), call, session: on });
  const abort = new AbortController();
  const writer = dispatchCall({ tools: probing(counting), call, session: on, signal: abort.signal });
  const reader = dispatchCall({ tools: probing(() => 'read', { effects: 'none' }), call, session: on });
  await settled();
  abort.abort();
  expect((await reader).outcome).toMatchObject({ value: 'read' });
  gate.resolve();
  await Promise.all([first, writer]);
});

test('[T21] a session that is disposed of while a call waits ends that call, with its one end', async () => {
  const on = session();
  const gate = Promise.withResolvers<void>();
  const first = dispatchCall({ tools: probing(() => gate.promise), call, session: on });
  const events: string[] = [];
  const second = dispatchCall({ tools: probing(() => 1), call, session: on, onEvent: ({ type }) => events.push(type) });
  await settled();
  await on.dispose();
  gate.resolve();
  await first.catch(() => {});
  expect((await second).outcome).toMatchObject({ status: 'error', code: 'aborted' });
  expect(events).toEqual(['tool-call.start', 'tool-call.error']);
});

test('[T16] a call of an unknown tool settles even if another definition cannot work', async () => {
  const tools = { ...probing(() => 1), broken: { ...probing(() => 1).probe, timeoutMs: -1 } };
  expect((await dispatchCall({ tools, call: { toolName: 'prob' } })).outcome).toMatchObject({ code: 'unknown_tool' });
});

test('[T39] a nested call with a separate signal still ends with its parent', async () => {
  const abort = new AbortController();
  let inner: AbortSignal | undefined;
  const own = new AbortController();
  const nested = probing((ctx) => ((inner = ctx.abortSignal), never()));
  const outer = probing((ctx) => dispatchCall({ tools: nested, call, parent: ctx, signal: own.signal }));
  const running = dispatchCall({ tools: outer, call, signal: abort.signal });
  for (let turn = 0; turn < 3; turn++) await settled();
  abort.abort();
  expect((await running).outcome).toMatchObject({ code: 'aborted' });
  expect(inner?.aborted).toBe(true);
});

test('[T40] a nested call with a separate budget uses up its parent’s budget too', async () => {
  const budget = createBudget({ toolCalls: 3 });
  const outcomes: unknown[] = [];
  const outer = probing(async (ctx) => {
    for (let time = 0; time < 3; time++) {
      const { outcome } = await dispatchCall({ tools: probing(() => 1), call, parent: ctx, budget: { toolCalls: 5 } });
      outcomes.push(outcome.status === 'error' ? outcome.code : outcome.status);
    }
  });
  await dispatchCall({ tools: outer, call, budget });
  expect(outcomes).toEqual(['ok', 'ok', 'budget']);
});

test('[T37] a long-lived signal keeps nothing of the calls that ended', async () => {
  const abort = new AbortController();
  for (let time = 0; time < 20; time++)
    await dispatchCall({ tools: probing((ctx) => void ctx.abortSignal), call, signal: abort.signal });
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
});
