import { expect, test } from 'vitest';
import { z } from 'zod';
import { CallLimit } from '../../src/dispatch/call-limit.ts';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  createBudget,
  createSession,
  dispatchCall,
  OptionsError,
  resource,
  slice,
  type ToolContext,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';

const none = z.object({});
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: { type: string; what: string }) => [...all, what] },
});
const probing = (execute: (ctx: ToolContext) => unknown, more: object = {}) => ({
  probe: tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...more }),
});
const call = { toolName: 'probe' };
const never = (): Promise<never> => new Promise(() => {});

test.each([
  ['turn deadline', { deadline: 1_050 }, { timeoutMs: 500 }, 'timeout'],
  ['tool timeout', { deadline: 1_500 }, { timeoutMs: 50 }, 'timeout'],
  ['tool timeout without a deadline', {}, { timeoutMs: 50 }, 'timeout'],
])("[T37] a call's signal aborts at the smallest limit: %s", async (_which, options, definition, code) => {
  const clock = fakeClock();
  let signal: AbortSignal | undefined;
  const running = dispatchCall({
    tools: probing((ctx) => ((signal = ctx.abortSignal), never()), definition),
    call,
    clock,
    ...options,
  });
  await clock.advance(49);
  expect(signal?.aborted).toBe(false);
  await clock.advance(1);
  expect(signal?.aborted).toBe(true);
  expect((await running).outcome).toMatchObject({ status: 'error', code });
  expect(clock.sleepers).toBe(0);
});

test('[T37] the host aborts: the signal aborts, and the call settles as error/aborted', async () => {
  const abort = new AbortController();
  let signal: AbortSignal | undefined;
  const running = dispatchCall({
    tools: probing((ctx) => ((signal = ctx.abortSignal), never())),
    call,
    signal: abort.signal,
  });
  await settled();
  abort.abort();
  expect(signal?.aborted).toBe(true);
  expect((await running).outcome).toMatchObject({ status: 'error', code: 'aborted' });
  let ran = false;
  const late = await dispatchCall({ tools: probing(() => void (ran = true)), call, signal: abort.signal });
  expect(late.outcome).toMatchObject({ code: 'aborted' });
  expect(ran).toBe(false);
});

test('[T37] a tool that ignores its signal is abandoned after a real timeout, and so is a generator that never waits', async () => {
  for (const execute of [
    never,
    async function* () {
      for (;;) yield 'busy';
    },
  ]) {
    const settlement = await dispatchCall({ tools: probing(execute, { timeoutMs: 20 }), call });
    expect(settlement.outcome).toMatchObject({ code: 'timeout' });
  }
});

test('[T37] a tool that is abandoned settles in time, also if a resource that it used hangs when it is disposed of', async () => {
  const clock = fakeClock();
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const stuck = resource('stuck', { scope: 'call', create: () => 1, dispose: never });
  const session = createSession({ resources: [stuck], clock, logger: quiet });
  const using = (ctx: ToolContext): Promise<never> => {
    ctx.resources.get(stuck);
    return never();
  };
  let code: unknown;
  void dispatchCall({ tools: probing(using, { timeoutMs: 20 }), call, session, clock }).then(({ outcome }) => {
    code = outcome.status === 'error' && outcome.code;
  });
  await settled();
  await clock.advance(20);
  await clock.advance(30);
  expect(code).toBe('timeout');
});

test('[T37] a generator that goes on after its call has ended is left, and can clean up', async () => {
  const clock = fakeClock();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  async function* numbers(): AsyncGenerator<number> {
    try {
      for (let number = 1; number <= 5; number++) {
        log.push(`gives ${number}`);
        yield number;
        if (number === 2) await gate.promise;
      }
    } finally {
      log.push('cleans up');
    }
  }
  const running = dispatchCall({ tools: probing(numbers, { timeoutMs: 20 }), call, clock });
  await settled();
  await clock.advance(20);
  expect((await running).outcome).toMatchObject({ code: 'timeout' });
  gate.resolve();
  await settled();
  expect(log).toEqual(['gives 1', 'gives 2', 'gives 3', 'cleans up']);
});

test('[T37] a policy, an approval or a schema that never answers is abandoned as well', async () => {
  for (const definition of [
    { policies: [{ name: 'slow', beforeCall: never }] },
    { policies: [{ name: 'slow', afterCall: never }] },
    { approval: never },
    { inputSchema: z.object({ a: z.string().default('x').refine(never) }) },
    { outputSchema: z.string().refine(never) },
  ]) {
    const clock = fakeClock();
    const running = dispatchCall({ tools: probing(() => 'x', definition), call, clock, deadline: 1_050 });
    await settled();
    await clock.advance(50);
    expect((await running).outcome).toMatchObject({ code: 'timeout' });
  }
});

test('[T38] later writes of an abandoned tool are refused and change nothing', async () => {
  const clock = fakeClock();
  const filesystem = memoryFilesystem();
  const session = createSession({ slices: [notes], filesystem });
  const gate = Promise.withResolvers<void>();
  const refused: string[] = [];
  const events: string[] = [];
  const execute = async (ctx: ToolContext): Promise<string> => {
    await gate.promise;
    ctx.progress('late');
    for (const act of [
      () => ctx.session.dispatch({ type: 'noted', what: 'late' }),
      () => ctx.filesystem.writeText('late.txt', 'x'),
      () => ctx.resources.get('anything'),
      () => dispatchCall({ tools: probing(() => 1), call, session: ctx.session }),
    ]) {
      try {
        await act();
      } catch (error) {
        refused.push((error as Error).name);
      }
    }
    return 'late result';
  };
  const running = dispatchCall({
    tools: probing(execute, { timeoutMs: 10 }),
    call,
    session,
    clock,
    onEvent: (event) => events.push(event.type),
  });
  await settled();
  await clock.advance(10);
  expect((await running).outcome).toMatchObject({ code: 'timeout' });
  gate.resolve();
  await settled();
  expect(refused).toEqual(['StaleCallError', 'StaleCallError', 'StaleCallError', 'StaleCallError']);
  expect(events).toEqual(['tool-call.start', 'tool-call.error']);
  expect(session.read(notes)).toEqual([]);
  expect(await filesystem.list()).toEqual([]);
});

test('[T38] a tool that succeeded and goes on writing is refused as well', async () => {
  const session = createSession({ slices: [notes] });
  let kept: ToolContext | undefined;
  await dispatchCall({ tools: probing((ctx) => void (kept = ctx)), call, session });
  expect(() => kept?.session.dispatch({ type: 'noted', what: 'late' })).toThrow('after the call had ended');
  expect(session.read(notes)).toEqual([]);
});

test('[T39] a deadline already passed: execute is not entered, and the call settles as error/timeout', async () => {
  const clock = fakeClock();
  let entered = false;
  const slow = { name: 'slow', beforeCall: () => void clock.advance(100) };
  const settlement = await dispatchCall({
    tools: probing(() => void (entered = true), { policies: [slow] }),
    call,
    clock,
    deadline: 1_050,
  });
  expect(settlement.outcome).toMatchObject({ status: 'error', code: 'timeout' });
  expect(entered).toBe(false);
});

test('[T39] a deadline in the past is refused as an option', async () => {
  const clock = fakeClock();
  for (const deadline of [999, 1_000, Number.NEGATIVE_INFINITY]) {
    await expect(dispatchCall({ tools: probing(() => 1), call, clock, deadline })).rejects.toMatchObject({
      name: 'OptionsError',
      field: 'deadline',
    });
  }
  await expect(dispatchCall({ tools: probing(() => 1), call, clock, deadline: 0 })).rejects.toThrow(OptionsError);
});

test('[T39] a nested call gets the earlier of its deadline and its parent’s, and its abort and budget', async () => {
  const clock = fakeClock();
  const deadlines: unknown[] = [];
  const inner = probing((ctx) => void deadlines.push(ctx.deadline));
  const budget = createBudget({ toolCalls: 3 });
  const outer = probing(async (parent) => {
    for (const deadline of [1_020, 1_080, undefined]) {
      await dispatchCall({ tools: inner, call, clock, parent, ...(deadline === undefined ? {} : { deadline }) });
    }
  });
  await dispatchCall({ tools: outer, call, clock, deadline: 1_050, budget });
  expect(deadlines).toEqual([1_020, 1_050]);
  expect(budget.used('toolCalls')).toBe(3);

  const abort = new AbortController();
  let innerSignal: AbortSignal | undefined;
  const running = dispatchCall({
    tools: probing((parent) =>
      dispatchCall({ tools: probing((ctx) => ((innerSignal = ctx.abortSignal), never())), call, parent }),
    ),
    call,
    signal: abort.signal,
  });
  await settled();
  abort.abort();
  expect((await running).outcome).toMatchObject({ code: 'aborted' });
  expect(innerSignal?.aborted).toBe(true);
});

test('[T37] work that fails after the limit was hit is ignored, and leaves no unhandled rejection', async () => {
  const limit = new CallLimit({ clock: fakeClock(), cancellable: true });
  limit.cancel('Enough');
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const work = Promise.reject(new Error('too late'));
  expect(await limit.race(work)).toEqual({ code: 'aborted', message: 'Enough' });
  // Node.js reports unhandled rejections before the next timers.
  await new Promise((resolve) => setTimeout(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
