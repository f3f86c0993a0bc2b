import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, pack, spawn } from '../../src/index.ts';
import { outcomes, run, texts, toolNames } from '../kit.ts';

const says = (text: string) => tool({ description: `Says ${text}.`, inputSchema: z.object({}), execute: () => text });
const counting = z.object({ count: z.number() });
const shelf = pack({
  name: 'shelf',
  state: counting,
  initialState: { count: 0 },
  tools: { shelve: says('pack'), who: says('pack') },
});
const worker = node({ instructions: 'worker', worker: true });
const child = node({ instructions: 'child', tools: { who: says('child') } });
const bare = node({ instructions: 'bare' });
const root = node({
  instructions: 'root',
  state: counting,
  initialState: { count: 3 },
  packs: [shelf],
  tools: (make) => ({
    who: says('root'),
    read: make({ description: 'Reads.', inputSchema: z.object({}), execute: (_input, ctx) => ctx.state.count }),
    write: make({
      description: 'Writes.',
      inputSchema: z.object({}),
      execute: (_input, ctx) => ctx.updateState({ count: 99 }),
    }),
  }),
  transitions: {
    child: { description: 'Child.', handler: () => spawn(child) },
    bare: { description: 'Bare.', handler: () => spawn(bare) },
    worker: { description: 'Worker.', handler: () => spawn(worker) },
  },
});
const tools = { who: says('charter'), far: says('charter') };
const make = () => createMachine(charter({ nodes: { root, child, bare, worker }, tools, packs: [shelf] }), { root });
const take = (name: string) => ({ toolName: `transition_${name}` });

describe('tools of the same name', () => {
  test('[M12] only the nearest is advertised and called: the node before its packs and the charter', async () => {
    const { steps, requests } = await run(make(), [[{ toolName: 'who' }, { toolName: 'far' }], 'Done.'], {
      input: 'Go.',
    });
    expect(toolNames(requests[0]).filter((name) => name === 'who')).toHaveLength(1);
    expect(requests[0]?.tools?.find(({ name }) => name === 'who')).toMatchObject({ description: 'Says root.' });
    expect(outcomes(steps).map(([, , text]) => text)).toEqual(['root', 'charter']);
  });

  test('[M12] the node before its ancestors, an ancestor before the charter', async () => {
    const { steps } = await run(make(), [take('child'), { toolName: 'who' }, 'Done.'], { input: 'Go.' });
    expect(outcomes(steps)[1]).toEqual(['who', 'ok', 'child']);
    const { steps: others, requests } = await run(make(), [take('bare'), { toolName: 'who' }, 'Done.'], {
      input: 'Go.',
    });
    expect(outcomes(others)[1]).toEqual(['who', 'ok', 'root']);
    expect(toolNames(requests[1]).filter((name) => name === 'who')).toHaveLength(1);
  });
});

describe('the parts of their ancestors that children see', () => {
  test("[M12] ancestors' tools read ancestors' state and cannot write it", async () => {
    const machine = make();
    const calls = [{ toolName: 'read' }, { toolName: 'write' }];
    const { steps, requests } = await run(machine, [take('bare'), calls, 'Done.'], { input: 'Go.' });
    expect(outcomes(steps)[1]).toEqual(['read', 'ok', '3']);
    expect(steps[1]?.settlements[1]?.outcome.status).toBe('error');
    expect(texts(requests[2]).at(-1)).toContain('may read the state, and not change it');
    expect(machine.tree.root.state).toEqual({ count: 3 });
  });

  test('[M12] packs are not inherited, and workers have none', async () => {
    const { requests } = await run(make(), [take('bare'), 'Done.'], { input: 'Go.' });
    expect(toolNames(requests[0])).toContain('shelve');
    expect(toolNames(requests[1])).not.toContain('shelve');
    expect(toolNames(requests[1])).toContain('read');
  });

  test('[M12] a node with packs that works for a worker has no packs', async () => {
    const busy = node({
      instructions: 'busy',
      worker: true,
      transitions: { hire: { description: 'Hires.', handler: () => spawn('root') } },
    });
    const boss = node({
      instructions: 'boss',
      transitions: { go: { description: 'Goes.', handler: () => spawn(busy) } },
    });
    const machine = createMachine(charter({ nodes: { boss, busy, root, child, bare, worker }, packs: [shelf] }), {
      root: boss,
    });
    const { requests } = await run(machine, [take('go'), take('hire'), 'Done.', 'Done.', 'Done.'], { input: 'Go.' });
    expect(toolNames(requests[2])).toContain('read');
    expect(toolNames(requests[2])).not.toContain('shelve');
  });

  test("[M12] a tool of the charter reads the caller's state and cannot write it", async () => {
    const peek = tool({
      description: 'Peeks.',
      inputSchema: z.object({ write: z.boolean() }),
      execute: ({ write }, ctx) => {
        const { state, updateState } = ctx as never as { state: unknown; updateState: (patch: object) => void };
        if (write) updateState({ count: 0 });
        return state;
      },
    });
    const machine = createMachine(charter({ nodes: { root, child, bare, worker }, tools: { peek }, packs: [shelf] }), {
      root,
    });
    const calls = [true, false].map((write) => ({ toolName: 'peek', input: { write } }));
    const { steps } = await run(machine, [calls, 'Done.'], { input: 'Go.' });
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['error', 'ok']);
    expect(outcomes(steps)[1]?.[2]).toBe('{"count":3}');
  });
});
