import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, pack, type StateContext, StateError, stateTool } from '../../src/index.ts';
import { outcomes, run, systemOf, texts } from '../kit.ts';

interface Stock {
  apples: number;
  pears: number;
  note?: string | undefined;
}
const stock = z.object({ apples: z.number().min(0), pears: z.number().min(0), note: z.string().optional() });
const patchSchema = z.object({ patch: z.looseObject({}), then: z.enum(['throw', 'swallow', 'go']).default('go') });
const seen: unknown[] = [];

const set = stateTool<Stock>()({
  description: 'Applies a patch.',
  inputSchema: patchSchema,
  execute: ({ patch, then }, ctx) => {
    try {
      ctx.updateState(patch);
    } catch (error) {
      if (then !== 'swallow') throw error;
      seen.push(error);
    }
    seen.push(ctx.state);
    if (then === 'throw') throw new Error('after all');
    return 'set';
  },
});
const basket = pack({ name: 'basket', state: stock, initialState: { apples: 1, pears: 1 }, tools: { setBasket: set } });
const initialState = { apples: 1, pears: 1 };
const root = node({
  instructions: 'root',
  state: stock,
  initialState,
  packs: [basket],
  tools: {
    set,
    two: stateTool<Stock>()({
      description: 'Writes twice.',
      inputSchema: z.object({}),
      execute: (_input, ctx) => {
        ctx.updateState({ apples: ctx.state.apples + 1 });
        ctx.updateState({ pears: ctx.state.apples + 10 });
        return ctx.state;
      },
    }),
    quiet: tool({
      description: 'Says it writes nothing.',
      inputSchema: z.object({}),
      effects: 'none',
      execute: (_input, ctx) => (ctx as StateContext<Stock>).updateState({ apples: 5 }),
    }),
    late: stateTool<Stock>()({
      description: 'Writes when it is over.',
      inputSchema: z.object({}),
      execute: (_input, ctx) => {
        setImmediate(() => {
          try {
            ctx.updateState({ apples: 1000 });
          } catch (error) {
            seen.push(error);
          }
        });
        return 'later';
      },
    }),
    slowly: stateTool<Stock>()({
      description: 'Writes as it goes.',
      inputSchema: z.object({}),
      execute: async function* (_input, ctx) {
        ctx.updateState({ apples: 2 });
        yield 'half';
        ctx.updateState({ pears: 2 });
        yield ctx.state;
      },
    }),
  },
  commands: {
    set: {
      inputSchema: patchSchema,
      execute: ({ patch }: { patch: object }, ctx) => ctx.updateState(patch),
    },
  },
});
const make = () => createMachine(charter({ nodes: { root }, packs: [basket] }), { root });

describe('a patch that fails validation changes nothing and says so', () => {
  const bad: Record<string, [patch: object, says: string]> = {
    'a value out of bounds': [{ apples: -1, pears: 5 }, 'apples'],
    'a value of another type': [{ apples: 'many' }, 'apples'],
    'a field that does not exist': [{ plums: 3 }, 'plums'],
  };
  for (const [what, [patch, says]] of Object.entries(bad)) {
    test(`[M13] ${what}, from the built-in updateState`, async () => {
      const machine = make();
      const { steps, requests } = await run(machine, [{ toolName: 'updateState', input: patch }, 'Hm.'], {
        input: 'Go.',
      });
      expect(steps[0]?.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'invalid_input' });
      expect(texts(requests[1]).at(-1)).toContain(says);
      expect(machine.tree.root.state).toEqual(initialState);
    });

    for (const [name, state] of [
      ['set', () => make().tree.root.state],
      ['setBasket', () => make().tree.packs.basket],
    ] as const) {
      test(`[M13] ${what}, from ${name === 'set' ? 'a node tool' : 'a pack tool'}`, async () => {
        const machine = make();
        const { requests, steps } = await run(machine, [{ toolName: name, input: { patch } }, 'Hm.'], { input: 'Go.' });
        expect(steps[0]?.settlements[0]?.outcome.status).toBe('error');
        expect(texts(requests[1]).at(-1)).toContain(says);
        expect(name === 'set' ? machine.tree.root.state : machine.tree.packs.basket).toEqual(state());
      });
    }

    test(`[M13] ${what}, from a command`, async () => {
      const machine = make();
      await expect(machine.command('set', { patch })).rejects.toThrow(says);
      expect(machine.tree.root.state).toEqual(initialState);
    });
  }

  test('[M13] a tool that catches the error goes on with the state unchanged', async () => {
    seen.length = 0;
    const machine = make();
    const input = { patch: { apples: -1 }, then: 'swallow' };
    const { steps } = await run(machine, [{ toolName: 'set', input }, 'Hm.'], { input: 'Go.' });
    expect(outcomes(steps)).toEqual([['set', 'ok', 'set']]);
    expect(seen).toEqual([expect.any(StateError), initialState]);
    expect(machine.tree.root.state).toEqual(initialState);
  });

  test('[M13] a value that is not plain data is refused, naming the field', async () => {
    const loose = node({
      instructions: 'l',
      state: z.looseObject({}),
      commands: { put: { execute: (_i, ctx) => ctx.updateState({ at: new Map() } as never) } },
    });
    const machine = createMachine(charter({ nodes: { loose } }), { root: loose });
    await expect(machine.command('put')).rejects.toThrow('state.at: must be plain data');
  });

  test('[M13] a state whose schema validates asynchronously is refused', async () => {
    const later = z.object({ n: z.number() }).refine(async ({ n }) => n < 5);
    const root = node({
      instructions: 'l',
      state: later,
      commands: { put: { execute: (_i, ctx) => ctx.updateState({ n: 1 }) } },
    });
    const made = charter({ nodes: { root } });
    expect(() => createMachine(made, { root, state: { n: 1 } })).toThrow('validates asynchronously');
  });
});

describe('ctx.state and ctx.updateState', () => {
  test('[M14] a tool reads its own writes, and two updates of different fields are both kept', async () => {
    const machine = make();
    const { steps } = await run(machine, [{ toolName: 'two' }, 'Ok.'], { input: 'Go.' });
    expect(outcomes(steps)[0]?.[2]).toBe('{"apples":2,"pears":12}');
    expect(machine.tree.root.state).toEqual({ apples: 2, pears: 12 });
  });

  test('[M14] a later call of the batch reads what an earlier one wrote', async () => {
    const machine = make();
    await run(machine, [[{ toolName: 'two' }, { toolName: 'two' }], 'Ok.'], { input: 'Go.' });
    expect(machine.tree.root.state).toEqual({ apples: 3, pears: 13 });
  });

  test('[M14] the writes of a tool that fails afterwards are dropped', async () => {
    const machine = make();
    const input = { patch: { apples: 7 }, then: 'throw' };
    const { steps } = await run(machine, [[{ toolName: 'set', input }, { toolName: 'two' }], 'Ok.'], { input: 'Go.' });
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['error', 'ok']);
    expect(machine.tree.root.state).toEqual({ apples: 2, pears: 12 });
  });

  test('[M14] a field may be removed, and a field that is left out stays', async () => {
    const machine = make();
    await machine.command('set', { patch: { note: 'fresh' } });
    expect(machine.tree.root.state).toEqual({ ...initialState, note: 'fresh' });
    const input = { patch: { apples: 4 } };
    await run(machine, [{ toolName: 'set', input }, 'Ok.'], { input: 'Go.' });
    expect(machine.tree.root.state).toEqual({ apples: 4, pears: 1, note: 'fresh' });
    const clear = stateTool<Stock>()({
      description: 'C.',
      inputSchema: z.object({}),
      execute: (_i, ctx) => ctx.updateState({ note: undefined }),
    });
    const other = createMachine(
      charter({
        nodes: {
          a: node({ instructions: 'a', state: stock, initialState: { ...initialState, note: 'x' }, tools: { clear } }),
        },
      }),
      { root: 'a' },
    );
    await run(other, [{ toolName: 'clear' }, 'Ok.'], { input: 'Go.' });
    expect(other.tree.root.state).toEqual(initialState);
  });

  test('[M14] the built-in updateState sets the fields it names and keeps the others, defaults included', async () => {
    const state = z.object({ a: z.number().default(1), b: z.number().default(2) });
    const machine = createMachine(charter({ nodes: { n: node({ instructions: 'n', state }) } }), {
      root: 'n',
      state: { a: 5, b: 6 },
    });
    const { requests } = await run(machine, [{ toolName: 'updateState', input: { b: 7 } }, 'Ok.'], { input: 'Go.' });
    expect(machine.tree.root.state).toEqual({ a: 5, b: 7 });
    expect(systemOf(requests[0])).toBe('n\n\nYour state:\n{"a":5,"b":6}');
    expect(systemOf(requests[1])).toContain('{"a":5,"b":7}');
    await run(machine, [{ toolName: 'updateState', input: { patch: { a: 9 } } }, 'Ok.'], { input: 'Go.' });
    expect(machine.tree.root.state).toEqual({ a: 9, b: 7 });
  });

  test('[M14] a tool that declares no effects cannot write, and neither can one that has ended', async () => {
    seen.length = 0;
    const machine = make();
    const { steps } = await run(machine, [[{ toolName: 'quiet' }, { toolName: 'late' }], 'Ok.'], { input: 'Go.' });
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['error', 'ok']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(machine.tree.root.state).toEqual(initialState);
    expect(seen).toMatchObject([{ code: 'stale_call' }]);
  });

  test('[M14] a tool that yields progress commits at its end', async () => {
    const machine = make();
    const { steps } = await run(machine, [{ toolName: 'slowly' }, 'Ok.'], { input: 'Go.' });
    expect(outcomes(steps)[0]?.[2]).toBe('{"apples":2,"pears":2}');
    expect(machine.tree.root.state).toEqual({ apples: 2, pears: 2 });
  });

  test('[M14] state that was read cannot be changed in place', async () => {
    const machine = make();
    seen.length = 0;
    await run(machine, [{ toolName: 'set', input: { patch: { apples: 2 } } }, 'Ok.'], { input: 'Go.' });
    expect(() => Object.assign(seen[0] as object, { apples: 50 })).toThrow(TypeError);
    expect(() => Object.assign(machine.tree.root, { node: 'x' })).toThrow(TypeError);
  });
});

describe('packs', () => {
  const other = node({
    instructions: 'other',
    packs: [basket],
    tools: {
      peek: stateTool<Record<string, never>>()({
        description: 'Peeks.',
        inputSchema: z.object({}),
        execute: (_i, ctx) => ctx.pack(basket).apples,
      }),
    },
  });
  const start = node({ instructions: 'start', packs: [basket], transitions: { other } });

  test('[M15] pack state lives at the root, is shared by all nodes that use it, and outlives a transition', async () => {
    const machine = createMachine(charter({ nodes: { start, other }, packs: [basket] }), { root: start });
    const set = (apples: number) => ({ toolName: 'setBasket', input: { patch: { apples } } });
    const script = [set(5), { toolName: 'transition_other' }, [set(6), { toolName: 'peek' }], 'Ok.'];
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(machine.tree.packs).toEqual({ basket: { apples: 6, pears: 1 } });
    expect(outcomes(steps).at(-1)).toEqual(['peek', 'ok', '6']);
  });

  test('[M15] a pack shows the model its current state', async () => {
    const told = pack({
      name: 'told',
      state: z.object({ n: z.number() }),
      initialState: { n: 1 },
      instructions: ({ n }) => `n is ${n}`,
      tools: (make) => ({
        bump: make({
          description: 'Bumps.',
          inputSchema: z.object({}),
          execute: (_i, ctx) => ctx.updateState({ n: ctx.state.n + 1 }),
        }),
      }),
    });
    const machine = createMachine(
      charter({ nodes: { a: node({ instructions: 'a', packs: [told] }) }, packs: [told] }),
      { root: 'a' },
    );
    const { requests } = await run(machine, [{ toolName: 'bump' }, 'Ok.'], { input: 'Go.' });
    expect(systemOf(requests[0])).toBe('a\n\nn is 1');
    expect(systemOf(requests[1])).toBe('a\n\nn is 2');
  });

  test('[M15] two machines of one charter share nothing', async () => {
    const made = charter({ nodes: { start, other }, packs: [basket] });
    const [one, two] = [createMachine(made, { root: start }), createMachine(made, { root: start })];
    await run(one, [{ toolName: 'setBasket', input: { patch: { apples: 9 } } }, 'Ok.'], { input: 'Go.' });
    expect(two.tree.packs.basket).toEqual({ apples: 1, pears: 1 });
  });
});

test('[M13] a tool that declares no effects cannot change state, and the error says what to declare', async () => {
  const reader = node({
    instructions: 'r',
    state: z.object({ n: z.number().default(0) }),
    tools: (make) => ({
      peek: make({
        description: 'Peeks.',
        inputSchema: z.object({}),
        effects: 'none',
        execute: (_input, ctx) => ctx.updateState({ n: 1 }),
      }),
    }),
  });
  const machine = createMachine(charter({ nodes: { reader } }), { root: 'reader' });
  const { steps } = await run(machine, [{ toolName: 'peek' }, 'Ok.'], { input: 'Go.' });
  expect(steps[0]?.settlements[0]?.outcome).toMatchObject({
    status: 'error',
    message: expect.stringContaining(`"peek" declares effects: 'none'. To change state, declare effects: 'session'.`),
  });
  expect(machine.tree.root.state).toEqual({ n: 0 });
});
