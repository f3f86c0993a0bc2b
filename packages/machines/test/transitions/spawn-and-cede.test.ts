import { tool } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cede, charter, createMachine, node, spawn, to } from '../../src/index.ts';
import { reasons, run, systemOf, texts, toolNames } from '../kit.ts';

const done = {
  description: 'Hands over.',
  inputSchema: z.object({ content: z.unknown().optional() }),
  handler: ({ content }: { content?: unknown }) => cede(content),
};
const worker = node({
  instructions: ({ topic }) => `worker on ${topic}`,
  state: z.object({ topic: z.string() }),
  initialState: { topic: 'nothing' },
  worker: true,
  transitions: { done, hire: { description: 'Hires.', handler: () => spawn('talker') } },
});
const talker = node({ instructions: 'talker', transitions: { done } });
const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });
const root = node({
  instructions: 'root',
  tools: { look },
  transitions: {
    one: { description: 'One worker.', handler: () => spawn(worker, { topic: 'rain' }) },
    three: {
      description: 'Three.',
      handler: () =>
        spawn([{ node: worker, state: { topic: 'a' } }, worker, { node: 'worker', state: { topic: 'c' } }]),
    },
    talk: { description: 'Somebody to talk.', handler: () => spawn(talker) },
    both: { description: 'A talker and a worker.', handler: () => spawn([talker, worker]) },
    twice: { description: 'Two talkers.', handler: () => spawn([talker, talker]) },
    move: { description: 'Moves.', handler: () => to('root') },
  },
  commands: { add: { execute: () => spawn(talker) } },
});
const make = () => createMachine(charter({ nodes: { root, worker, talker } }), { root });
const take = (name: string, input = {}) => ({ toolName: `transition_${name}`, input });
const hand = (content: unknown) => take('done', { content });

/** Each leaf replies with the lines for its system prompt, in order. */
function perLeaf(lines: Record<string, readonly unknown[]>) {
  const said = new Map<string, number>();
  return (request: Parameters<typeof systemOf>[0]) => {
    const key = Object.keys(lines).find((start) => systemOf(request).startsWith(start)) ?? '';
    const at = said.get(key) ?? 0;
    said.set(key, at + 1);
    return (lines[key]?.[at] ?? 'Nothing more.') as string;
  };
}

describe('spawn', () => {
  test('[M8] appends children; the parent stops being a leaf, and its tools are visible to them', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [take('one'), [{ toolName: 'look' }]], {
      input: 'Go.',
      maxSteps: 2,
    });
    expect(machine.tree.root.children).toMatchObject([
      { id: 'root.1', node: 'worker', state: { topic: 'rain' }, worker: true },
    ]);
    expect(steps[1]?.leaves).toMatchObject([{ instanceId: 'root.1', worker: true }]);
    expect(systemOf(requests[1])).toBe('worker on rain');
    expect(toolNames(requests[1])).toContain('look');
    expect(toolNames(requests[1])).not.toContain('transition_one');
    expect(steps[1]?.settlements).toMatchObject([{ toolName: 'look', outcome: { text: 'seen' } }]);
    expect(machine.primary).toBeUndefined();
  });

  test("[M8] several at once, each with its state or its node's own", async () => {
    const machine = make();
    const { steps } = await run(machine, [take('three')], { input: 'Go.', maxSteps: 1 });
    expect(machine.tree.root.children.map(({ id, state }) => [id, state])).toEqual([
      ['root.1', { topic: 'a' }],
      ['root.2', { topic: 'nothing' }],
      ['root.3', { topic: 'c' }],
    ]);
    expect(steps[0]?.settlements[0]?.outcome.text).toBe(
      'Started "worker" (root.1), "worker" (root.2), "worker" (root.3).',
    );
  });

  test('[M8] a spawn that would make a second primary is refused, the tree unchanged', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [take('twice'), 'No.'], { input: 'Go.' });
    expect(machine.tree.root.children).toEqual([]);
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(texts(requests[1]).at(-1)).toContain('would both talk with the user');
    await machine.command('add');
    const before = machine.tree.root;
    await expect(machine.command('add', {}, { instanceId: 'root' })).rejects.toThrow('would both talk with the user');
    expect(machine.tree.root).toBe(before);
  });

  test('[M8] a child that is not a worker takes over the conversation', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [take('talk'), 'Talker here.'], { input: 'Hello?' });
    expect(texts(requests[1])).toEqual([
      'system: talker',
      'user: Hello?',
      'assistant: transition_talk()',
      'tool: Started "talker" (root.1).',
    ]);
    expect(steps.at(-1)).toMatchObject({ response: 'Talker here.', done: true });
    expect(machine.primary?.id).toBe('root.1');
  });

  test('[M8] the child of a worker is a worker, whatever its node says', async () => {
    const machine = make();
    const script = perLeaf({ root: [take('one')], 'worker on rain': [take('hire')], talker: ['Found.'] });
    await run(machine, script, { input: 'Go.', maxSteps: 2 });
    expect(machine.instance('root.1.1')).toMatchObject({ node: 'talker', worker: true });
    expect(machine.tree.speaker).toBe('root');
  });

  test('[M8] a model that spawns itself for ever is stopped by a limit', async () => {
    const self = node({
      instructions: 'self',
      transitions: { deeper: { description: 'Deeper.', handler: () => spawn('self') } },
    });
    const machine = createMachine(charter({ nodes: { self } }), { root: self });
    const { steps } = await run(machine, () => take('deeper'), { input: 'Go.', maxSteps: 120 });
    expect(steps[98]?.settlements[0]?.outcome.status).toBe('ok');
    expect(steps[99]?.settlements[0]?.outcome).toMatchObject({ status: 'error' });
    expect(steps[99]?.settlements[0]?.outcome.text).toContain('more than 100 levels');
  });
});

describe('cede', () => {
  test("[M9] removes the instance; the parent's next context has the content and where it came from", async () => {
    const machine = make();
    const { requests } = await run(machine, [take('one'), hand('It rains.'), 'So it does.'], { input: 'Weather?' });
    expect(machine.tree.root.children).toEqual([]);
    expect(texts(requests[2]).slice(1)).toEqual([
      'user: Weather?',
      'assistant: transition_one()',
      'tool: Started "worker" (root.1).',
      'user: "worker" (root.1) has finished. Its result:\n\nIt rains.',
    ]);
  });

  test('[M9] its content may be data, or nothing', async () => {
    const { requests } = await run(make(), [take('one'), hand({ mm: 3 }), 'Wet.'], { input: 'Weather?' });
    expect(texts(requests[2]).at(-1)).toContain('{"mm":3}');
    const { requests: others } = await run(make(), [take('one'), take('done'), 'Hm.'], { input: 'Weather?' });
    expect(texts(others[2]).at(-1)).toContain('has finished without a result');
  });

  test('[M9] several cedes in one step all arrive, in tree order, whichever was first', async () => {
    const machine = make();
    const held = Promise.withResolvers<void>();
    const script = (request: Parameters<typeof systemOf>[0]) => {
      const system = systemOf(request);
      if (system === 'worker on a') return held.promise.then(() => hand('A'));
      if (system === 'worker on c') return Promise.resolve().then(() => (held.resolve(), hand('C')));
      return system === 'root' && texts(request).length === 2
        ? take('three')
        : system === 'root'
          ? 'All here.'
          : hand('B');
    };
    const { steps, requests } = await run(machine, script, { input: 'Go.' });
    expect(reasons(steps)).toEqual(['transition', 'cede', 'end_turn']);
    expect(
      texts(requests.at(-1))
        .slice(-3)
        .map((text) => text.split('\n\n')[1]),
    ).toEqual(['A', 'B', 'C']);
  });

  test('[M9] the root cannot cede, and the run continues', async () => {
    const machine = createMachine(charter({ nodes: { talker } }), { root: talker });
    const { steps } = await run(machine, [hand('x'), 'Still here.'], { input: 'Go.' });
    expect(steps[0]?.settlements[0]?.outcome).toMatchObject({ status: 'error' });
    expect(steps[1]).toMatchObject({ response: 'Still here.' });
  });

  test('[M10] when the last child has ceded, the parent is asked before the turn ends', async () => {
    const machine = make();
    const script = perLeaf({
      root: [take('three'), 'All back.'],
      'worker on a': [[{ toolName: 'look' }], hand('A')],
      'worker on nothing': [hand('B')],
      'worker on c': [[{ toolName: 'look' }], [{ toolName: 'look' }], hand('C')],
    });
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(reasons(steps)).toEqual(['transition', 'cede', 'cede', 'cede', 'end_turn']);
    expect(steps.map(({ done: isLast }) => isLast)).toEqual([false, false, false, false, true]);
    expect(steps.at(-1)?.response).toBe('All back.');
  });

  test('[M10] a primary child that cedes gives the conversation back to its parent', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [take('talk'), hand('Bored.'), 'Root again.'], { input: 'Hi.' });
    expect(reasons(steps)).toEqual(['transition', 'cede', 'end_turn']);
    expect(systemOf(requests[2])).toBe('root');
    expect(machine.primary?.id).toBe('root');
  });

  test('[M10] after the answer of the primary, steps continue while there are workers', async () => {
    const machine = make();
    const script = perLeaf({
      root: [take('both')],
      talker: ['Here is what I know.'],
      'worker on nothing': [[{ toolName: 'look' }], [{ toolName: 'look' }], hand('found')],
    });
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(reasons(steps)).toEqual(['transition', 'end_turn', 'tool_use', 'cede']);
    expect(steps[1]).toMatchObject({ response: 'Here is what I know.', done: false });
    expect(steps[3]).toMatchObject({ done: true });
    expect(machine.tree.root.children.map(({ id }) => id)).toEqual(['root.1']);
  });

  test('[M10] workers that never finish step until the budget ends', async () => {
    const script = perLeaf({ root: [take('both')], talker: ['Hm.'], worker: Array(20).fill([{ toolName: 'look' }]) });
    const { steps } = await run(make(), script, { input: 'Go.', maxSteps: 6 });
    expect(reasons(steps)).toEqual([
      'transition',
      'end_turn',
      'tool_use',
      'tool_use',
      'tool_use',
      'tool_use',
      'max_steps',
    ]);
  });
});
