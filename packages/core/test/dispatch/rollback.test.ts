import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  blocked,
  createSession,
  dispatchCall,
  fail,
  ok,
  type Policy,
  pending,
  type Resource,
  RestoreFailed,
  resource,
  type Session,
  slice,
  type ToolContext,
  type ToolResult,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';

interface Noted {
  readonly type: 'noted';
  readonly what: string;
}
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: Noted) => [...all, what] },
});
const audit = slice<readonly string[]>('audit', {
  initial: [],
  policy: 'log',
  on: { noted: (all, { what }: Noted) => [...all, what] },
});
const none = z.object({});

interface Setting {
  readonly session: Session;
  readonly run: (
    execute: (ctx: ToolContext) => unknown,
    more?: object,
    options?: object,
  ) => ReturnType<typeof dispatchCall>;
}

function setting(more: Parameters<typeof createSession>[0] = {}): Setting {
  const filesystem = memoryFilesystem({ files: { 'a.txt': 'before' } });
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const session = createSession({ slices: [notes, audit], filesystem, logger: quiet, ...more });
  const run: Setting['run'] = (execute, definition = {}, options = {}) => {
    const probe = tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...definition });
    return dispatchCall({ tools: { probe }, session, call: { toolName: 'probe' }, ...options });
  };
  return { session, run };
}

async function write(ctx: ToolContext): Promise<void> {
  ctx.session.dispatch({ type: 'noted', what: 'half' });
  await ctx.filesystem.writeText('a.txt', 'after');
  await ctx.filesystem.writeText('dir/new.txt', 'new');
}

const never = (): Promise<never> => new Promise(() => {});
const deny: Policy = { name: 'no', afterCall: () => ({ deny: 'not this result' }) };

test.each<[string, (ctx: ToolContext) => unknown, object, (abort: AbortController) => object]>([
  [
    'throws',
    async (ctx) => {
      await write(ctx);
      throw new Error('x');
    },
    {},
    () => ({}),
  ],
  [
    'returns fail',
    async (ctx) => {
      await write(ctx);
      return fail('x');
    },
    {},
    () => ({}),
  ],
  [
    'returns blocked',
    async (ctx) => {
      await write(ctx);
      return blocked('x');
    },
    {},
    () => ({}),
  ],
  [
    'is denied by a result hook',
    async (ctx) => {
      await write(ctx);
      return 'fine';
    },
    { policies: [deny] },
    () => ({}),
  ],
  [
    'fails its output schema',
    async (ctx) => {
      await write(ctx);
      return 'text';
    },
    { outputSchema: z.number() },
    () => ({}),
  ],
  [
    'times out',
    async (ctx) => {
      await write(ctx);
      return never();
    },
    { timeoutMs: 5 },
    () => ({}),
  ],
  [
    'yields and then throws',
    async function* (ctx) {
      await write(ctx);
      yield 1;
      throw new Error('x');
    },
    {},
    () => ({}),
  ],
  [
    'is aborted',
    async (ctx) => {
      await write(ctx);
      ctx.session.subscribe;
      return never();
    },
    {},
    (abort) => ({ signal: abort.signal, onEvent: () => setTimeout(() => abort.abort(), 5) }),
  ],
])(
  '[T27] a call that writes a slice and a file and then %s leaves both as before',
  async (_how, execute, definition, options) => {
    const { session, run } = setting();
    const { outcome } = await run(execute, definition, options(new AbortController()));
    expect(outcome.status).toBe('error');
    expect(session.read(notes)).toEqual([]);
    expect(await session.filesystem.readText('a.txt')).toBe('before');
    expect(await session.filesystem.list()).toEqual([{ name: 'a.txt', path: 'a.txt', kind: 'file' }]);
  },
);

test('[T27] a call that succeeds keeps both, and so does a pending one', async () => {
  for (const end of ['done', pending()]) {
    const { session, run } = setting();
    await run(async (ctx) => {
      await write(ctx);
      return end as ToolResult;
    });
    expect(session.read(notes)).toEqual(['half']);
    expect(await session.filesystem.readText('a.txt')).toBe('after');
  }
});

test('[T27] file operations still in flight are drained before they are undone', async () => {
  const { session, run } = setting();
  const { outcome } = await run((ctx) => {
    for (let i = 0; i < 20; i++) void ctx.filesystem.writeText('a.txt', `late ${i}`);
    void ctx.filesystem.delete('a.txt');
    return fail('x');
  });
  expect(outcome.status).toBe('error');
  expect(await session.filesystem.readText('a.txt')).toBe('before');
});

test("[T28] a failed result's value reaches no slice, and a successful one's does", async () => {
  const results = slice<unknown[]>('results', {
    initial: [],
    on: { ToolInvoked: (all, event) => [...all, JSON.stringify(event)] },
  });
  const { session, run } = setting({ slices: [results] });
  await run(() => fail('no', { value: 'leak' }));
  expect(session.read(results)).toEqual([]);
  await run(() => ok('kept'));
  expect(JSON.stringify(session.read(results))).toContain('kept');
});

test('[T28] a slice first touched in a failed call does not exist afterwards', async () => {
  const fresh = slice('fresh', { initial: 0, on: { bumped: (n: number) => n + 1 } });
  const { session, run } = setting();
  const touch = (end: unknown) => (ctx: ToolContext) => {
    expect(ctx.session.read(fresh)).toBe(0);
    ctx.session.dispatch({ type: 'bumped' });
    return end;
  };
  await run(touch(fail('x')));
  expect(Object.keys(session.toJSON().slices)).not.toContain('fresh');
  await run(touch('fine'));
  expect(session.toJSON().slices.fresh).toEqual({ version: 1, state: 1 });
});

test('[T28] log slices keep their entries, also those of the failed call', async () => {
  const { session, run } = setting();
  await run(async (ctx) => {
    await write(ctx);
    return fail('x');
  });
  expect(session.read(audit)).toEqual(['half']);
  const ends = slice<string[]>('ends', {
    initial: [],
    policy: 'log',
    on: { ToolInvoked: (all, { outcome }: { type: string; outcome: { status: string } }) => [...all, outcome.status] },
  });
  const audited = setting({ slices: [ends] });
  await audited.run(() => fail('x'));
  await audited.run(() => 'y');
  expect(audited.session.read(ends)).toEqual(['error', 'ok']);
});

test('[T29] a reducer that throws makes the call fail and nothing of it remain, also where the tool caught it', async () => {
  const picky = slice('picky', {
    initial: 0,
    on: {
      noted: (n: number, { what }: Noted) => {
        if (what === 'bad') throw new Error('refused');
        return n + 1;
      },
    },
  });
  const { session, run } = setting({ slices: [notes, picky] });
  const { outcome } = await run((ctx) => {
    ctx.session.dispatch({ type: 'noted', what: 'good' });
    try {
      ctx.session.dispatch({ type: 'noted', what: 'bad' });
    } catch {}
    return ok('fine');
  });
  expect(outcome).toMatchObject({ status: 'error', code: 'execution', text: expect.stringContaining('refused') });
  expect(session.read(notes)).toEqual([]);
  expect(session.read(picky)).toBe(0);
});

test("[T29] a reducer that throws at the call's end makes it fail too", async () => {
  const ends = slice('ends', {
    initial: 0,
    on: {
      ToolInvoked: () => {
        throw new Error('no end');
      },
    },
  });
  const { session, run } = setting({ slices: [notes, ends] });
  const { outcome } = await run(write);
  expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('no end') });
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.readText('a.txt')).toBe('before');
});

function tracked(): {
  readonly log: string[];
  readonly make: (
    key: string,
    scope: 'singleton' | 'call' | 'each',
    more?: object,
  ) => Resource<{ id: number; n: number }>;
} {
  const log: string[] = [];
  let built = 0;
  return {
    log,
    make: (key, scope, more = {}) =>
      resource(key, {
        scope,
        create: () => ({ id: ++built, n: 0 }),
        dispose: (value) => void log.push(`dispose ${key} ${value.id}`),
        ...more,
      }),
  };
}

test('[T31] a resource first built in a failed call is disposed of, and the next access builds a new one', async () => {
  const { log, make } = tracked();
  const db = make('db', 'singleton');
  const { run } = setting({ resources: [db] });
  const use = (end: unknown) => run((ctx) => (log.push(`use ${ctx.resources.get(db).id}`), end));
  await use(fail('x'));
  await use('fine');
  await use('fine');
  expect(log).toEqual(['use 1', 'dispose db 1', 'use 2', 'use 2']);
});

test('[T31] call-scoped resources are new for each call and disposed of in reverse order, also on failure', async () => {
  const { log, make } = tracked();
  const [one, two, three] = [make('one', 'call'), make('two', 'call'), make('three', 'each')] as const;
  const { run } = setting({ resources: { one, two, three } });
  for (const end of ['fine', fail('x')]) {
    log.length = 0;
    await run((ctx) => {
      expect(ctx.resources.get(one)).toBe(ctx.resources.get(one));
      ctx.resources.get('two');
      expect(ctx.resources.get(three)).not.toBe(ctx.resources.get(three));
      return end as never;
    });
    expect(log.map((line) => line.replace(/ \d+$/, ''))).toEqual([
      'dispose three',
      'dispose three',
      'dispose two',
      'dispose one',
    ]);
  }
});

test('[T31] a resource that existed before the call is restored, together with the resources it is made of', async () => {
  const { make } = tracked();
  const saving = {
    snapshot: (value: { n: number }) => value.n,
    restore: (value: { n: number }, n: number) => void (value.n = n),
  };
  const db = make('db', 'singleton', saving);
  const repository = resource('repository', {
    create: ({ resources }) => {
      const behind = resources.get(db);
      return { add: () => void behind.n++ };
    },
  });
  const late = resource('late', {
    create: async () => ({ n: 0 }),
    snapshot: ({ n }) => n,
    restore: async (value, n) => void (value.n = n),
  });
  const { session, run } = setting({ resources: [db, repository, late] });
  const use = (end: unknown) =>
    run(async (ctx) => {
      ctx.resources.get(repository).add();
      (await ctx.resources.get(late)).n++;
      return end as never;
    });
  await use('fine');
  await use(fail('x'));
  expect(session.resources.get(db).n).toBe(1);
  expect((await session.resources.get(late)).n).toBe(1);
});

test('[T31] a call-scoped resource whose creation fails is created again by the next access of the same call', async () => {
  let tries = 0;
  const flaky = resource('flaky', {
    scope: 'call',
    create: async () => {
      if (++tries === 1) throw new Error('not yet');
      return 'ready';
    },
  });
  const { run } = setting({ resources: [flaky] });
  const { outcome } = await run(async (ctx) => {
    await expect(ctx.resources.get(flaky)).rejects.toThrow('not yet');
    return await ctx.resources.get(flaky);
  });
  expect(outcome).toMatchObject({ status: 'ok', value: 'ready' });
});

test('resources that hang when they are disposed of are abandoned together, within one time limit', async () => {
  const clock = fakeClock();
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const stuck = ['one', 'two', 'three'].map((key) => resource(key, { scope: 'call', create: () => 1, dispose: never }));
  const { run } = setting({ resources: stuck, logger, clock });
  let status: string | undefined;
  void run((ctx) => stuck.map((one) => ctx.resources.get(one))).then(({ outcome }) => {
    status = outcome.status;
  });
  await settled();
  await clock.advance(5_000);
  expect(status).toBe('ok');
});

test('a resource that fails to dispose is reported and changes nothing; one that hangs is abandoned', async () => {
  const reports: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void reports.push(message) };
  const bad = resource('bad', {
    scope: 'call',
    create: () => 1,
    dispose: () => {
      throw new Error('x');
    },
  });
  const stuck = resource('stuck', { scope: 'call', create: () => 1, dispose: never });
  const clock = { now: () => 0, sleep: settled };
  const { run } = setting({ resources: [bad, stuck], logger, clock });
  const { outcome } = await run((ctx) => [ctx.resources.get(bad), ctx.resources.get(stuck)]);
  expect(outcome.status).toBe('ok');
  expect(reports).toEqual([expect.stringContaining('"stuck"'), expect.stringContaining('"bad"')]);
});

test('[T32] if a resource cannot be restored, RestoreFailed is thrown, and the session refuses further calls', async () => {
  const db = resource('db', {
    create: () => ({ n: 0 }),
    snapshot: () => 0,
    restore: () => {
      throw new Error('disk gone');
    },
  });
  const { session, run } = setting({ resources: [db] });
  await run((ctx) => ctx.resources.get(db).n);
  const failing = run((ctx) => (ctx.resources.get(db), fail('x')));
  await expect(failing).rejects.toThrow(RestoreFailed);
  await expect(run(() => 1)).rejects.toMatchObject({
    name: 'RestoreFailed',
    message: expect.stringMatching(/poisoned.*disk gone|poisoned.*db/),
  });
  expect(session.read(notes)).toEqual([]);
});

test('[T32] a tool that throws RestoreFailed itself just fails', async () => {
  const { run } = setting();
  expect(
    (
      await run(() => {
        throw new RestoreFailed('pretended');
      })
    ).outcome,
  ).toMatchObject({ code: 'execution' });
  expect((await run(() => 1)).outcome.status).toBe('ok');
});

test('[T34] a tool without effects has a read-only session: a write fails the call and changes nothing, even if the tool caught it', async () => {
  let snapshots = 0;
  const db = resource('db', { create: () => 1, snapshot: () => ++snapshots, restore: () => {} });
  for (const attempt of [
    (ctx: ToolContext) => ctx.session.dispatch({ type: 'noted', what: 'x' }),
    (ctx: ToolContext) => ctx.session.restore(ctx.session.snapshot()),
    (ctx: ToolContext) => ctx.filesystem.writeText('a.txt', 'x'),
    (ctx: ToolContext) => ctx.filesystem.delete('a.txt'),
  ]) {
    const { session, run } = setting({ resources: [db] });
    await run((ctx) => ctx.resources.get(db));
    snapshots = 0;
    const settled = await run((ctx) => (ctx.resources.get(db), attempt(ctx)), { effects: 'none' });
    expect(settled.outcome).toMatchObject({
      status: 'error',
      code: 'execution',
      text: expect.stringContaining("effects: 'none'"),
    });
    expect(session.read(notes)).toEqual([]);
    expect(await session.filesystem.readText('a.txt')).toBe('before');
    expect(snapshots).toBe(0);
  }
  const { run } = setting();
  const caught = await run(
    (ctx) => {
      try {
        ctx.session.dispatch({ type: 'noted', what: 'x' });
      } catch {}
      return 'pretends';
    },
    { effects: 'none' },
  );
  expect(caught.outcome.status).toBe('error');
});

test('[T34] a tool without effects reads the committed state', async () => {
  const { session, run } = setting();
  session.dispatch({ type: 'noted', what: 'x' });
  expect((await run((ctx) => ctx.session.read(notes), { effects: 'none' })).outcome).toMatchObject({ value: ['x'] });
  expect((await run((ctx) => ctx.filesystem.readText('a.txt'), { effects: 'none' })).outcome).toMatchObject({
    value: 'before',
  });
});

test('state cannot be changed in place, neither by a tool that read it nor through an object that a tool dispatched', async () => {
  const { session, run } = setting();
  const loose = { deep: ['x'] };
  const items = slice<readonly (typeof loose)[]>('items', {
    initial: [],
    on: { added: (all, { item }: { type: string; item: typeof loose }) => [...all, item] },
  });
  const { outcome } = await run((ctx) => {
    ctx.session.read(items);
    ctx.session.dispatch({ type: 'added', item: Object.freeze(loose) });
    loose.deep.push('later');
  });
  expect(outcome.status).toBe('error');
  expect((await run((ctx) => (ctx.session.read(notes) as string[]).push('direct'))).outcome.status).toBe('error');
  expect(session.read(notes)).toEqual([]);
  const odd = await run((ctx) => {
    ctx.session.read(items);
    ctx.session.dispatch({ type: 'added', item: new Map() });
  });
  expect(odd.outcome).toMatchObject({ status: 'error', text: expect.stringContaining('a Map') });
});
