import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import { buildModes, plugin } from '../../src/doors/prompt.ts';
import {
  cache,
  configureTools,
  createSession,
  dispatchCall,
  type Middleware,
  type Outcome,
  resource,
  runTurn,
  Session,
  slice,
  streamTurn,
  tool,
} from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const none = z.object({});

test('[T38] [T31] a middleware that calls next() after its call has settled starts nothing', async () => {
  let opened = 0;
  const connection = resource('connection', { scope: 'call', create: () => ++opened });
  const ends = slice<readonly string[]>('ends', {
    ...{ policy: 'log', initial: [] },
    on: { ToolInvoked: (all, { callId }: { type: string; callId?: string }) => [...all, String(callId)] },
  });
  const filesystem = memoryFilesystem();
  const session = createSession({ filesystem, resources: [connection], slices: [ends] });
  const save = tool({
    ...{ description: 'Saves.', effects: 'session', inputSchema: none },
    async execute(_input, { filesystem: files, resources }) {
      resources.get(connection);
      await files.writeText('f', 'late', { mode: 'overwrite' });
    },
  });
  const fails = tool({
    description: 'Fails.',
    effects: 'session',
    inputSchema: none,
    execute: () => Promise.reject(new Error('no')),
  });
  let late: Promise<unknown> = Promise.resolve();
  const stale: Middleware = {
    name: 'stale',
    async call(next) {
      late = new Promise((resolve) => setTimeout(resolve, 5)).then(() => next());
      return 'stale';
    },
  };
  const { outcome } = await dispatchCall({
    tools: { save },
    call: { toolName: 'save', callId: 'c1' },
    session,
    middleware: [stale],
  });
  expect(outcome).toMatchObject({ status: 'ok', value: 'stale' });
  expect(await Promise.race([late, new Promise((resolve) => setTimeout(resolve, 50, 'nothing'))])).toBe('nothing');
  await dispatchCall({ tools: { fails }, call: { toolName: 'fails', callId: 'c2' }, session });
  expect([opened, await filesystem.list(''), session.read(ends)]).toEqual([0, [], ['c1', 'c2']]);
});

test('[R51] a listener of streamTurn that rejects later is logged, like one of runTurn', async () => {
  const errors: unknown[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (...said: unknown[]) => void errors.push(said) };
  const onEvent = () => Promise.reject(new Error('listener')) as never;
  const { response } = await streamTurn({ model: scriptedModel(['Hello.']), prompt: 'Go.', logger, onEvent }).result;
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(response).toBe('Hello.');
  expect(errors.length).toBeGreaterThan(0);
});

test('[R51] a hook of a plugin that rejects later is logged, and the others are called', async () => {
  const errors: unknown[] = [];
  let told = 0;
  const logger = { debug() {}, info() {}, warn() {}, error: (...said: unknown[]) => void errors.push(said) };
  const hooked = (name: string, onStepFinish: () => unknown) =>
    plugin({
      ...{ name, tools: () => ({}), getAgentConfig: () => ({ instructions: name, tools: {} }) },
      hooks: { onStepFinish: onStepFinish as () => void },
    });
  const plugins = [hooked('one', () => Promise.reject(new Error('hook'))), hooked('two', () => told++)];
  const { main } = buildModes({ modes: ['main'], ctx: {}, plugins });
  await runTurn({ ...main, model: scriptedModel(['Hello.']), prompt: 'Go.', logger });
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect([told, errors.length]).toEqual([1, 1]);
});

test('a cache keeps what passed the output schema, and takes arguments in any order for the same', async () => {
  let ran = 0;
  const middleware = [cache({ ttlMs: 60_000 })];
  const look = tool({
    ...{ description: 'Looks.', effects: 'none', inputSchema: z.object({ a: z.number(), b: z.number() }).partial() },
    outputSchema: z.object({ v: z.number() }),
    execute: () => (++ran === 1 ? { v: 'bad' } : { v: ran }) as never,
  });
  const call = async (input: object): Promise<Outcome> =>
    (await dispatchCall({ tools: { look }, call: { toolName: 'look', input: JSON.stringify(input) }, middleware }))
      .outcome;
  expect(await call({ a: 1, b: 2 })).toMatchObject({ status: 'error' });
  expect(await call({ a: 1, b: 2 })).toMatchObject({ status: 'ok', value: { v: 2 } });
  expect(await call({ b: 2, a: 1 })).toMatchObject({ status: 'ok', value: { v: 2 } });
  expect(ran).toBe(2);
});

test('[R44] a setting that is undefined leaves the tool its own', async () => {
  const pay = tool({ description: 'Pays.', inputSchema: none, approval: true, execute: () => 'paid' });
  const overrides: { approval?: boolean } = { approval: undefined as never };
  for (const tools of [configureTools({ pay }, { pay: overrides }), configureTools({ pay }, { '*': overrides })]) {
    const { pending } = await runTurn({ model: scriptedModel([{ toolName: 'pay' }]), prompt: 'Go.', tools });
    expect(pending).toMatchObject([{ kind: 'approval' }]);
  }
});

test('[T31] a resource of the session cannot be made from one that ends with its call', async () => {
  const connection = resource('connection', { scope: 'call', create: () => ({}) });
  const rows = resource('rows', { scope: 'singleton', create: ({ resources }) => resources.get(connection) });
  const use = tool({
    description: 'Uses.',
    inputSchema: none,
    execute: (_input, { resources }) => resources.get(rows),
  });
  const session = createSession({ resources: [connection, rows] });
  const { outcome } = await dispatchCall({ tools: { use }, call: { toolName: 'use' }, session });
  expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('cannot be made from "connection"') });
});

test('[T36] a migrate that returns nothing is refused at once, and the stored state is kept', () => {
  const cart = slice<readonly string[]>('cart', { initial: [], version: 2, on: {}, migrate: () => undefined as never });
  const stored = { version: 1, slices: { cart: { version: 1, state: ['a'] } } } as never;
  expect(() => Session.fromJSON(stored, { slices: [cart] })).toThrow('migrate returned nothing');
});
