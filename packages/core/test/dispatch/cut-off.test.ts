import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  createSession,
  dispatchCall,
  fail,
  type Middleware,
  type Outcome,
  resource,
  retry,
  runTurn,
  slice,
  type ToolContext,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const none = z.object({});
const never = (): Promise<never> => new Promise(() => {});
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const call = { toolName: 'probe' };
const probing = (execute: (ctx: ToolContext) => unknown, more: object = {}) => ({
  probe: tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...more }),
});

const MAY_HAVE_ACTED =
  'What it changed in the session, its files and its resources was rolled back. ' +
  'What it did outside may have taken effect, or may still do so: check before you repeat it.';
const NOTHING = 'Nothing it wrote remains.';

/** The outcome of a call that is cut off by its deadline 50 ms after its start. */
async function cutOff(options: Omit<Parameters<typeof dispatchCall>[0], 'call' | 'clock'>): Promise<Outcome> {
  const clock = fakeClock();
  const running = dispatchCall({ call, clock, deadline: 1_050, ...options });
  running.catch(() => {});
  await settled();
  await clock.advance(50);
  return (await running).outcome;
}

test('[T55] the outcome of a tool that was cut off says that it may have had external effects, which tools have by default', async () => {
  for (const effects of [undefined, 'external'])
    expect(await cutOff({ tools: probing(never, effects === undefined ? {} : { effects }) })).toEqual({
      status: 'error',
      code: 'timeout',
      message: '"probe" did not finish: The deadline passed.',
      text: `"probe" did not finish: The deadline passed. ${MAY_HAVE_ACTED}`,
      effect: 'possible',
    });
});

test.each(['none', 'session'])(
  '[T55] the outcome of a tool with effects %s that was cut off says that nothing remains',
  async (effects) => {
    expect(await cutOff({ tools: probing(never, { effects }) })).toEqual({
      status: 'error',
      code: 'timeout',
      message: '"probe" did not finish: The deadline passed.',
      text: `"probe" did not finish: The deadline passed. ${NOTHING}`,
      effect: 'none',
    });
  },
);

test('[T55] an abort by the host gives the same outcome as a timeout', async () => {
  const abort = new AbortController();
  const running = dispatchCall({ tools: probing(never), call, signal: abort.signal });
  await settled();
  abort.abort();
  expect((await running).outcome).toMatchObject({
    code: 'aborted',
    text: `"probe" did not finish: The host aborted it. ${MAY_HAVE_ACTED}`,
    effect: 'possible',
  });
});

test('[T55] session, files and resources are rolled back, as the outcome says', async () => {
  const notes = slice('notes', { initial: 0, on: { noted: (count: number) => count + 1 } });
  const filesystem = memoryFilesystem({ files: { 'a.txt': 'before' } });
  const counter = resource('counter', {
    create: () => ({ value: 0 }),
    snapshot: ({ value }) => value,
    restore: (one, saved) => void (one.value = saved),
  });
  const session = createSession({ slices: [notes], filesystem, resources: [counter] });
  const held = session.resources.get(counter);
  const write = async (ctx: ToolContext): Promise<never> => {
    ctx.session.dispatch({ type: 'noted' });
    ctx.resources.get(counter).value = 7;
    await ctx.filesystem.writeText('a.txt', 'after');
    return never();
  };
  expect(await cutOff({ tools: probing(write), session })).toMatchObject({ effect: 'possible' });
  expect([session.read(notes), held.value, await filesystem.readText('a.txt')]).toEqual([0, 0, 'before']);
});

test('[T55] a call whose execute was never entered did not run, and its outcome says so', async () => {
  const clock = fakeClock();
  const slow = { name: 'slow', beforeCall: () => void clock.advance(100) };
  const late = await dispatchCall({ tools: probing(() => 1, { policies: [slow] }), call, clock, deadline: 1_050 });
  const unrun = {
    status: 'error',
    code: 'timeout',
    message: '"probe" did not run: The deadline passed.',
    text: '"probe" did not run: The deadline passed.',
    effect: 'none',
  };
  expect(late.outcome).toEqual(unrun);
  for (const definition of [
    { policies: [{ name: 'slow', beforeCall: never }] },
    { approval: never },
    { inputSchema: z.object({ a: z.string().default('x').refine(never) }) },
  ])
    expect(await cutOff({ tools: probing(() => 1, definition) })).toEqual(unrun);
  const aborted = await dispatchCall({ tools: probing(() => 1), call, signal: AbortSignal.abort() });
  expect(aborted.outcome).toMatchObject({ text: '"probe" did not run: The host aborted it.', effect: 'none' });
});

test('[T55] a call that waited for the session until its time was over did not run', async () => {
  const session = createSession();
  const gate = Promise.withResolvers<void>();
  const first = dispatchCall({ tools: probing(() => gate.promise), call, session });
  expect(await cutOff({ tools: probing(() => 1), session })).toMatchObject({
    text: '"probe" did not run: The deadline passed.',
    effect: 'none',
  });
  gate.resolve();
  await first;
});

test('[T55] a generator that yielded before its time was over has possibly acted', async () => {
  const execute = async function* (): AsyncGenerator<string> {
    yield 'half';
    await never();
  };
  expect(await cutOff({ tools: probing(execute) })).toMatchObject({ effect: 'possible' });
});

test('[T55] a tool that has returned and is held up by its output schema or a policy has possibly acted', async () => {
  for (const definition of [
    { outputSchema: z.string().refine(never) },
    { policies: [{ name: 'slow', afterCall: never }] },
  ])
    expect(await cutOff({ tools: probing(() => 'x', definition) })).toMatchObject({ effect: 'possible' });
});

test('[T55] the outcome of an idempotent tool does not say that it may be repeated, because a new call has a new key', async () => {
  const outcome = await cutOff({ tools: probing(never, { idempotent: true }) });
  expect(outcome.text).toBe(`"probe" did not finish: The deadline passed. ${MAY_HAVE_ACTED}`);
});

test('[T55] a failed attempt that a retry waits to repeat has possibly acted', async () => {
  const clock = fakeClock();
  for (const execute of [() => fail('busy'), () => Promise.reject(new Error('busy'))]) {
    const middleware = [retry({ attempts: 3, backoff: 10_000, clock })];
    expect(await cutOff({ tools: probing(execute), middleware })).toMatchObject({ effect: 'possible' });
    const session = probing(execute, { effects: 'session' });
    expect(await cutOff({ tools: session, middleware })).toMatchObject({ effect: 'none' });
  }
});

test('[T55] a middleware that replaces the tool may have acted in its place', async () => {
  const elsewhere: Middleware = { name: 'elsewhere', call: never };
  const tools = probing(() => 'not reached');
  expect(await cutOff({ tools, middleware: [elsewhere] })).toMatchObject({ effect: 'possible' });
  const onlyModels: Middleware = { name: 'models', model: (next) => next() };
  const unreached = probing(() => 1, { approval: never });
  expect(await cutOff({ tools: unreached, middleware: [onlyModels] })).toMatchObject({ effect: 'none' });
});

test('[T55] a call whose inner call acted outside has possibly acted, whatever it declares itself', async () => {
  const acting = probing(() => 'sent');
  const outer = probing(
    async (parent) => {
      await dispatchCall({ tools: acting, call, parent });
      return never();
    },
    { effects: 'session' },
  );
  expect(await cutOff({ tools: outer })).toMatchObject({ effect: 'possible' });
  const harmless = probing(
    async (parent) => {
      await dispatchCall({ tools: probing(() => 'read', { effects: 'none' }), call, parent });
      return never();
    },
    { effects: 'session' },
  );
  expect(await cutOff({ tools: harmless })).toMatchObject({ effect: 'none' });
});

test('[T55] a call whose inner turn acted outside has possibly acted, and the model of the outer turn reads it', async () => {
  const clock = fakeClock();
  const send = tool({ description: 'Sends.', inputSchema: none, execute: () => 'sent' });
  const delegate = tool({
    description: 'Delegates.',
    inputSchema: none,
    effects: 'session',
    timeoutMs: 50,
    execute: async (_input, ctx) => {
      await ctx.runTurn({ model: scriptedModel([[{ toolName: 'send' }], 'done']), tools: { send }, prompt: 'go' });
      return never();
    },
  });
  const model = scriptedModel([[{ toolName: 'delegate' }], 'ok']);
  const running = runTurn({ model, tools: { delegate }, prompt: 'go', clock, logger: quiet });
  await settled();
  await clock.advance(50);
  await running;
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('What it did outside may have taken effect');
});

test.each([
  ['its output schema', { outputSchema: z.number() }, 'returned what its output schema refuses'],
  ['a policy', { policies: [{ name: 'no', afterCall: () => ({ deny: 'too dear' }) }] }, 'was denied: too dear'],
])(
  '[T55] if a tool has run and is refused afterwards by %s, the outcome says that it may have acted',
  async (_by, more, why) => {
    const textOf = async (effects: string): Promise<string> =>
      (await dispatchCall({ tools: probing(() => 'x', { ...more, effects }), call })).outcome.text;
    const told = await textOf('external');
    expect(told).toContain(why);
    expect(told).toContain('It had already run: what it did outside may have taken effect.');
    expect(await textOf('session')).not.toContain('outside');
  },
);

test('[T55] if a tool returns a failure itself, nothing is added to its text', async () => {
  const { outcome } = await dispatchCall({ tools: probing(() => fail('The shelf is full.')), call });
  expect(outcome.text).toBe('The shelf is full.');
});

test('[T55] if a rollback fails, no outcome says that the changes were undone', async () => {
  const stubborn = resource('stubborn', {
    create: () => ({}),
    snapshot: () => 0,
    restore: () => {
      throw new Error('no');
    },
  });
  const told: Outcome[] = [];
  for (const effects of ['session', 'external'] as const) {
    const session = createSession({ resources: [stubborn], logger: quiet });
    session.resources.get(stubborn);
    session.subscribe('ToolInvoked', (event: { outcome: Outcome }) => told.push(event.outcome));
    const tools = probing((ctx) => (ctx.resources.get(stubborn), never()), { effects });
    await expect(cutOff({ tools, session })).rejects.toThrow('poisoned');
  }
  expect(told.map(({ text }) => text)).toEqual([
    '"probe" did not finish: The deadline passed. What it changed could not all be put back.',
    '"probe" did not finish: The deadline passed. What it changed could not all be put back. ' +
      'What it did outside may have taken effect, or may still do so: check before you repeat it.',
  ]);
});
