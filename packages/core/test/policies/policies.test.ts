import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  createSession,
  dispatchCall,
  fail,
  type Policy,
  readBeforeWrite,
  requires,
  Session,
  type ToolSet,
  tool,
} from '../../src/index.ts';

const none = z.object({});

function pipeline(): { readonly tools: ToolSet; readonly results: Record<string, unknown> } {
  const results: Record<string, unknown> = {};
  const step = (name: string, more: object = {}) =>
    tool({ description: `Runs ${name}.`, inputSchema: none, execute: () => results[name] ?? name, ...more });
  const policies = [requires({ deploy: ['test', 'build'] })];
  return {
    results,
    tools: { test: step('test', { effects: 'none' }), build: step('build'), deploy: step('deploy', { policies }) },
  };
}

test('[T47] a tool is denied until its prerequisites have succeeded, naming what is missing', async () => {
  const { tools } = pipeline();
  const session = createSession();
  const call = async (toolName: string) => (await dispatchCall({ tools, session, call: { toolName } })).outcome;
  const first = await call('deploy');
  expect(first).toMatchObject({ code: 'denied', message: expect.stringMatching(/"test".*"build"/) });
  await call('test');
  const second = await call('deploy');
  expect(second).toMatchObject({ code: 'denied', message: expect.stringContaining('"build"') });
  expect(second.text).not.toContain('"test"');
  await call('build');
  expect((await call('deploy')).status).toBe('ok');
});

test('[T47] only successes count', async () => {
  const { tools, results } = pipeline();
  const session = createSession();
  const call = async (toolName: string) => (await dispatchCall({ tools, session, call: { toolName } })).outcome;
  results.test = fail('red');
  await call('test');
  await call('build');
  expect(await call('deploy')).toMatchObject({ code: 'denied', message: expect.stringContaining('"test"') });
});

test('[T47] successes are session state: they are stored, and restoring an earlier snapshot forgets them', async () => {
  const { tools } = pipeline();
  const session = createSession();
  const call = async (on: Session, toolName: string) =>
    (await dispatchCall({ tools, session: on, call: { toolName } })).outcome;
  const clean = session.snapshot();
  await call(session, 'test');
  await call(session, 'build');
  const again = Session.fromJSON(JSON.stringify(session));
  expect((await call(again, 'deploy')).status).toBe('ok');
  session.restore(clean);
  expect((await call(session, 'deploy')).status).toBe('error');
});

test('[T47] a tool cannot pretend that another succeeded', async () => {
  const { tools } = pipeline();
  const session = createSession();
  const outcome = { status: 'ok', value: 1, text: '' };
  const fake = tool({
    description: 'd',
    inputSchema: none,
    execute: (_input, ctx) => ctx.session.dispatch({ type: 'ToolInvoked', toolName: 'test', outcome }),
  });
  await dispatchCall({ tools: { fake }, session, call: { toolName: 'fake' } });
  expect((await dispatchCall({ tools, session, call: { toolName: 'deploy' } })).outcome.status).toBe('error');
});

test('requires refuses anything but a list of names', () => {
  expect(() => requires({ deploy: [] })).toThrow('requires.deploy');
  expect(() => requires({ deploy: 'test' as never })).toThrow('requires.deploy');
});

function files(): {
  readonly run: (toolName: string, input: object) => Promise<unknown>;
  readonly read: (path: string) => Promise<string>;
} {
  const session = createSession({ filesystem: memoryFilesystem({ files: { 'a.txt': 'old', 'dir/b.txt': 'old' } }) });
  const path = z.object({ path: z.string() });
  const write = (mode: 'overwrite' | 'append' | 'create') =>
    tool({
      description: 'd',
      inputSchema: path,
      execute: ({ path: to }, ctx) => ctx.filesystem.writeText(to, 'new', { mode }),
    });
  const tools: ToolSet = {
    look: tool({
      description: 'd',
      inputSchema: path,
      effects: 'none',
      execute: ({ path: from }, ctx) => ctx.filesystem.readText(from),
    }),
    lookAndFail: tool({
      description: 'd',
      inputSchema: path,
      execute: async ({ path: from }, ctx) => (await ctx.filesystem.readText(from), fail('x')),
    }),
    write: write('overwrite'),
    append: write('append'),
    remove: tool({
      description: 'd',
      inputSchema: path,
      execute: ({ path: from }, ctx) => ctx.filesystem.delete(from),
    }),
    edit: tool({
      description: 'd',
      inputSchema: path,
      execute: async ({ path: at }, ctx) => ctx.filesystem.writeText(at, `${await ctx.filesystem.readText(at)}!`),
    }),
    twice: tool({
      description: 'd',
      inputSchema: path,
      execute: async ({ path: at }, ctx) => {
        await ctx.filesystem.writeText(at, 'one');
        await ctx.filesystem.writeText(at, 'two');
      },
    }),
    stubborn: tool({
      description: 'd',
      inputSchema: path,
      execute: async ({ path: at }, ctx) => {
        await ctx.filesystem.writeText('side.txt', 'x');
        await ctx.filesystem.writeText(at, 'new').catch(() => {});
        await ctx.session.filesystem.writeText(at, 'around').catch(() => {});
        return 'pretends';
      },
    }),
  };
  return {
    run: async (toolName, input) =>
      (await dispatchCall({ tools, session, policies: [readBeforeWrite()], call: { toolName, input } })).outcome,
    read: (from) => session.filesystem.readText(from),
  };
}

test('[T48] overwriting an existing unread path is denied, and so is deleting it', async () => {
  const { run, read } = files();
  for (const toolName of ['write', 'remove', 'edit', 'twice', 'stubborn']) {
    expect(await run(toolName, { path: 'a.txt' })).toMatchObject({
      status: 'error',
      code: 'denied',
      message: expect.stringContaining('a.txt'),
    });
  }
  expect(await read('a.txt')).toBe('old');
  await expect(read('side.txt')).rejects.toThrow();
});

test('[T48] a new path is allowed, and may be written again; appending loses nothing and is allowed', async () => {
  const { run, read } = files();
  expect(await run('write', { path: 'new.txt' })).toMatchObject({ status: 'ok' });
  expect(await run('write', { path: 'new.txt' })).toMatchObject({ status: 'ok' });
  expect(await run('twice', { path: 'twice.txt' })).toMatchObject({ status: 'ok' });
  expect(await run('append', { path: 'a.txt' })).toMatchObject({ status: 'ok' });
  expect(await read('a.txt')).toBe('oldnew');
  expect(await run('write', { path: 'a.txt' })).toMatchObject({ code: 'denied' });
});

test('[T48] after a successful read of the same normalised path it is allowed', async () => {
  const { run, read } = files();
  await run('lookAndFail', { path: 'dir/b.txt' });
  expect(await run('write', { path: 'dir/b.txt' })).toMatchObject({ code: 'denied' });
  expect(await run('look', { path: './dir//x/../b.txt' })).toMatchObject({ status: 'ok' });
  expect(await run('write', { path: '/dir/b.txt' })).toMatchObject({ status: 'ok' });
  expect(await read('dir/b.txt')).toBe('new');
  await run('look', { path: 'a.txt' });
  expect(await run('edit', { path: 'a.txt' })).toMatchObject({ status: 'ok' });
});

test('the names of the tools are in the type of the policy', () => {
  expectTypeOf(requires({ deploy: ['test', 'build'], ship: ['deploy'] })).toEqualTypeOf<
    Policy<'deploy' | 'test' | 'build' | 'ship'>
  >();
  const wide: Readonly<Record<string, readonly string[]>> = { deploy: ['test'] };
  expectTypeOf(requires(wide)).toEqualTypeOf<Policy>();
  expectTypeOf([requires({ deploy: ['test'] }), readBeforeWrite()]).toExtend<readonly Policy[]>();
});

test('[O9] a policy can approve a call that would wait, and every other policy can still deny it', async () => {
  const asked: unknown[] = [];
  const ran: unknown[] = [];
  const small: Policy = {
    name: 'small-sums',
    approveCall: async (call) => {
      asked.push(call);
      return (call.input as { amount: number }).amount <= 10;
    },
  };
  const tools = {
    pay: tool({
      description: 'Pays.',
      inputSchema: z.object({ amount: z.number() }),
      approval: true,
      execute: ({ amount }) => {
        ran.push(amount);
      },
    }),
    look: tool({ description: 'Looks.', inputSchema: none, effects: 'none', execute: () => 'seen' }),
  };
  const session = createSession();
  const call = async (toolName: string, input: object, policies: readonly Policy[], more: object = {}) =>
    (await dispatchCall({ tools, session, policies, call: { toolName, input, callId: 'c' }, ...more })).outcome;
  expect((await call('pay', { amount: 10 }, [small])).status).toBe('ok');
  expect((await call('pay', { amount: 11 }, [small])).status).toBe('pending');
  expect((await call('look', {}, [small])).status).toBe('ok');
  expect((await call('pay', { amount: 1 }, [small], { answer: { deny: 'No.' } })).status).toBe('error');
  expect((await call('pay', { amount: 'ten' }, [small])).status).toBe('error');
  const never: Policy = { name: 'never', beforeCall: () => ({ deny: 'Closed.' }) };
  expect((await call('pay', { amount: 1 }, [small, never])).status).toBe('error');
  expect(asked).toEqual([10, 11].map((amount) => ({ callId: 'c', toolName: 'pay', input: { amount } })));
  expect(ran).toEqual([10]);
});

test('[O9] a policy that throws, or does not return true, approves nothing', async () => {
  const tools = {
    pay: tool({ description: 'Pays.', inputSchema: none, approval: true, execute: () => 'paid' }),
  };
  const errors: unknown[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (...said: unknown[]) => errors.push(said) };
  const call = async (approveCall: NonNullable<Policy['approveCall']>) =>
    (
      await dispatchCall({
        tools,
        session: createSession(),
        logger,
        policies: [{ name: 'p', approveCall }],
        call: { toolName: 'pay' },
      })
    ).outcome.status;
  expect(await call(() => 1 as never)).toBe('pending');
  expect(
    await call(() => {
      throw new Error('The list is gone.');
    }),
  ).toBe('pending');
  expect(errors).toMatchObject([[expect.stringContaining('"p"'), { message: 'The list is gone.' }]]);
});
