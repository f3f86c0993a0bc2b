import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, type Machine, node, pack, runMachine, spawn, stateTool } from '../../src/index.ts';
import { type Asked, outcomes, run, systemOf, texts } from '../kit.ts';

interface Pair {
  a: number;
  b: number;
}
const pair = z
  .object({ a: z.number(), b: z.number() })
  .refine(({ a, b }) => a + b <= 100, { path: ['a'], message: 'too much together' });
const fields = z.object({ a: z.number().optional(), b: z.number().optional() });
let held = Promise.withResolvers<void>();
let inside = Promise.withResolvers<void>();

const write = stateTool<Pair>()({
  description: 'Writes, when it is let.',
  inputSchema: fields,
  execute: async (patch, ctx) => {
    ctx.updateState(patch as Partial<Pair>);
    inside.resolve();
    await held.promise;
    return ctx.state;
  },
});
const quick = stateTool<Pair>()({
  description: 'Writes.',
  inputSchema: fields,
  execute: (patch, ctx) => {
    ctx.updateState(patch as Partial<Pair>);
    return ctx.state;
  },
});
const shared = pack({ name: 'shared', state: pair, initialState: { a: 0, b: 0 }, tools: { writeShared: write } });
const set = {
  inputSchema: fields,
  execute: (patch: object, ctx: { updateState(patch: object): void }) => ctx.updateState(patch),
};
const worker = node({
  instructions: 'worker',
  state: pair,
  initialState: { a: 0, b: 0 },
  worker: true,
  tools: { quick },
  commands: { set },
});
const root = node({
  instructions: 'root',
  state: pair,
  initialState: { a: 0, b: 0 },
  packs: [shared],
  tools: { write, quick },
  commands: { set },
  transitions: { two: { description: 'Two.', handler: () => spawn([worker, worker]) } },
});

function make(): Machine {
  held = Promise.withResolvers<void>();
  inside = Promise.withResolvers<void>();
  return createMachine(charter({ nodes: { root, worker }, packs: [shared] }), { root });
}

/** A call writes; before it commits, the host does something. */
async function meet(machine: Machine, input: object, meanwhile: () => Promise<unknown>, toolName = 'write') {
  const running = run(machine, [{ toolName, input }, 'Done.'], { input: 'Go.' });
  await inside.promise;
  const commanded = await Promise.allSettled([meanwhile()]);
  held.resolve();
  return { ...(await running), commanded: commanded[0] };
}

describe('two writers at the same time', () => {
  test('[M14] writes to different fields are both kept', async () => {
    const machine = make();
    const { steps } = await meet(machine, { a: 1 }, () => machine.command('set', { b: 2 }));
    expect(outcomes(steps)[0]?.[1]).toBe('ok');
    expect(machine.tree.root.state).toEqual({ a: 1, b: 2 });
  });

  test('[M14] the same field is a conflict for the one that commits later', async () => {
    const machine = make();
    const { steps, requests } = await meet(machine, { a: 1, b: 1 }, () => machine.command('set', { a: 2 }));
    expect(steps[0]?.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'conflict' });
    expect(texts(requests[1]).at(-1)).toContain('"a" was changed by another call or command in the meantime');
    expect(machine.tree.root.state).toEqual({ a: 2, b: 0 });
  });

  test('[M14] fields that do not fit together are a conflict too', async () => {
    const machine = make();
    const { steps } = await meet(machine, { a: 60 }, () => machine.command('set', { b: 60 }));
    expect(steps[0]?.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'conflict' });
    expect(steps[0]?.settlements[0]?.outcome.text).toContain('too much together');
    expect(machine.tree.root.state).toEqual({ a: 0, b: 60 });
  });

  test("[M14] a field of a pack does not conflict with the same field of a node: commands of a node write the node's state", async () => {
    const machine = make();
    const { steps } = await meet(machine, { a: 1 }, () => machine.command('set', { a: 2 }), 'writeShared');
    expect(outcomes(steps)[0]?.[1]).toBe('ok');
    expect(machine.tree.packs.shared).toEqual({ a: 1, b: 0 });
    expect(machine.tree.root.state).toEqual({ a: 2, b: 0 });
  });

  test('[M14] a command gets the conflict if the call committed first', async () => {
    const machine = make();
    const waiting = Promise.withResolvers<void>();
    const slow = {
      execute: async (_input: object, ctx: { updateState(patch: object): void }) => {
        ctx.updateState({ a: 5 });
        await waiting.promise;
      },
    };
    const meeting = node({
      instructions: 'm',
      state: pair,
      initialState: { a: 0, b: 0 },
      tools: { quick },
      commands: { slow },
    });
    const other = createMachine(charter({ nodes: { meeting } }), { root: meeting });
    let command: Promise<unknown> | undefined;
    const script = [
      () => {
        command = other.command('slow');
        return { toolName: 'quick', input: { a: 1 } };
      },
      'Done.',
    ];
    const running = run(other, script, {
      input: 'Go.',
      onEvent: ({ type }) => type === 'tool-call.complete' && waiting.resolve(),
    });
    await expect(command ?? running.then(() => command)).rejects.toThrow('"a" was changed by another call or command');
    await running;
    expect(other.tree.root.state).toEqual({ a: 1, b: 0 });
    expect(machine.tree.root.state).toEqual({ a: 0, b: 0 });
  });

  test('[M14] a command that goes on after a step gets the conflict with a call of that step', async () => {
    const later = node({
      ...{ instructions: 'later', state: pair, initialState: { a: 0, b: 0 }, tools: { quick } },
      commands: {
        late: {
          inputSchema: fields,
          execute: async (patch: object, ctx: { updateState(patch: object): void }) => {
            inside.resolve();
            await held.promise;
            ctx.updateState(patch);
          },
        },
      },
    });
    make();
    const machine = createMachine(charter({ nodes: { later } }), { root: 'later' });
    let command: Promise<unknown> | undefined;
    const model = scriptedModel([
      async () => {
        command = machine.command('late', { a: 5 });
        await inside.promise;
        return { toolName: 'quick', input: { a: 1 } };
      },
      'Done.',
    ]);
    for await (const { response } of runMachine(machine, { model, input: 'Go.' }))
      if (response === undefined) held.resolve();
    await expect(command).rejects.toThrow('"a" was changed by another call or command in the meantime');
    expect(machine.tree.root.state).toEqual({ a: 1, b: 0 });
  });

  test("[M17] the next call of the leaf reads its own commits, and others' from the next step", async () => {
    const machine = make();
    const seen: string[] = [];
    const script = [
      async () => {
        await machine.command('set', { b: 9 });
        return [
          { toolName: 'quick', input: { a: 1 } },
          { toolName: 'quick', input: { a: 2 } },
        ];
      },
      { toolName: 'quick', input: { a: 3 } },
      'Done.',
    ];
    const { steps } = await run(machine, script, { input: 'Go.' });
    for (const [, , text] of outcomes(steps)) seen.push(text ?? '');
    expect(seen).toEqual(['{"a":1,"b":0}', '{"a":2,"b":0}', '{"a":3,"b":9}']);
    expect(machine.tree.root.state).toEqual({ a: 3, b: 9 });
  });

  test("[M17] a conflict is that call's error alone: an earlier and a later one stand", async () => {
    const machine = make();
    const script = [
      async () => {
        await machine.command('set', { b: 9 });
        return [{ a: 1 }, { b: 1 }, { a: 2 }].map((input) => ({ toolName: 'quick', input }));
      },
      'Done.',
    ];
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['ok', 'error', 'ok']);
    expect(machine.tree.root.state).toEqual({ a: 2, b: 9 });
  });

  test('[M17] a field that an earlier call committed and another writer changed since is no conflict for a later call', async () => {
    const machine = make();
    const calls = [
      { toolName: 'quick', input: { a: 1 } },
      { toolName: 'write', input: { b: 1 } },
    ];
    const running = run(machine, [calls, 'Done.'], { input: 'Go.' });
    await inside.promise;
    await machine.command('set', { a: 5 });
    held.resolve();
    const { steps } = await running;
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['ok', 'ok']);
    expect(machine.tree.root.state).toEqual({ a: 5, b: 1 });
  });

  test('[M17] a write of one step is no conflict in the next', async () => {
    const machine = make();
    await meet(machine, { a: 1 }, () => machine.command('set', { a: 2 }));
    await machine.command('set', { a: 3 });
    const { steps } = await run(machine, [{ toolName: 'quick', input: { a: 4 } }, 'Done.'], { input: 'Go.' });
    expect(outcomes(steps)[0]?.[1]).toBe('ok');
    expect(machine.tree.root.state).toEqual({ a: 4, b: 0 });
  });

  test('[M14] parallel leaves that write fields of the same name do not conflict: each has its own state', async () => {
    const machine = make();
    const script = (request: Asked) => {
      if (systemOf(request).startsWith('root')) return { toolName: 'transition_two' };
      return texts(request).some((text) => text.startsWith('tool')) ? 'Done.' : { toolName: 'quick', input: { a: 4 } };
    };
    await run(machine, script, { input: 'Go.', maxSteps: 2 });
    expect(machine.tree.root.children.map(({ state }) => state)).toEqual([
      { a: 4, b: 0 },
      { a: 4, b: 0 },
    ]);
  });

  test('[M17] a leaf that fails loses only its own uncommitted state', async () => {
    const machine = make();
    let turn = 0;
    const script = (request: Asked) => {
      if (systemOf(request).startsWith('root')) return { toolName: 'transition_two' };
      return ++turn % 2 === 0 ? new Error('model gone') : { toolName: 'quick', input: { a: 4 } };
    };
    const { steps } = await run(machine, script, { input: 'Go.', maxSteps: 2, modelRetries: 0 });
    expect(machine.tree.root.children.map(({ id, state }) => [id, state])).toEqual([['root.1', { a: 4, b: 0 }]]);
    expect(steps[1]?.leaves).toMatchObject([{ stop: { reason: 'max_steps' } }, { stop: { reason: 'error' } }]);
  });
});
