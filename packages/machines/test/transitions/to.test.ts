import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, node, spawn, to } from '../../src/index.ts';
import { outcomes, reasons, run, systemOf, texts } from '../kit.ts';

const counting = z.object({ count: z.number() });
const second = node({ instructions: ({ count }) => `second ${count}`, state: counting, initialState: { count: 1 } });
const bare = node({ instructions: 'bare' });
const first = node({
  instructions: ({ count }) => `first ${count}`,
  state: counting,
  initialState: { count: 0 },
  transitions: {
    second,
    bare,
    with: { description: 'With state.', handler: () => to(second, { count: 7 }) },
    byName: { description: 'By name.', handler: () => to('second', { count: 8 }) },
    again: {
      description: 'To itself.',
      inputSchema: z.object({ count: z.number() }),
      handler: ({ count }: { count: number }) => to('first', { count }),
    },
  },
  commands: {
    hire: { execute: () => spawn('first') },
    reset: { execute: () => to('second') },
  },
});
const make = () => createMachine(charter({ nodes: { first, second, bare } }), { root: 'first' });

describe('to', () => {
  test('[M4] id and position stay, node and state are replaced', async () => {
    const machine = make();
    const { requests } = await run(machine, [{ toolName: 'transition_with' }, 'Hello.'], { input: 'Hi.' });
    expect(machine.tree.root).toMatchObject({ id: 'root', node: 'second', state: { count: 7 }, children: [] });
    expect(systemOf(requests[1])).toBe('second 7');
  });

  test('[M4] without a state the node starts with its initial state', async () => {
    const machine = make();
    await run(machine, [{ toolName: 'transition_second' }, 'Hello.'], { input: 'Hi.' });
    expect(machine.tree.root).toMatchObject({ node: 'second', state: { count: 1 } });
  });

  test('[M4] a node may be named instead of given, and one without state has none', async () => {
    const machine = make();
    const { requests } = await run(machine, [{ toolName: 'transition_byName' }, 'Hello.'], { input: 'Hi.' });
    expect(systemOf(requests[1])).toBe('second 8');
    const other = make();
    await run(other, [{ toolName: 'transition_bare' }, 'Hello.'], { input: 'Hi.' });
    expect(other.tree.root).toMatchObject({ node: 'bare', state: {} });
  });

  test('[M4] to the same node with new state: the new state is in effect', async () => {
    const machine = make();
    const script = [{ toolName: 'transition_again', input: { count: 5 } }, 'Hello.'];
    const { requests, steps } = await run(machine, script, { input: 'Hi.' });
    expect(systemOf(requests[0])).toBe('first 0');
    expect(systemOf(requests[1])).toBe('first 5');
    expect(machine.tree.root).toMatchObject({ id: 'root', node: 'first', state: { count: 5 } });
    expect(reasons(steps)).toEqual(['transition', 'end_turn']);
  });

  test('[M4] the conversation continues in the new node', async () => {
    const { requests } = await run(make(), [{ toolName: 'transition_second' }, 'Hello.'], { input: 'Hi.' });
    expect(texts(requests[1])).toEqual([
      'system: second 1',
      'user: Hi.',
      'assistant: transition_second()',
      'tool: Went on to "second".',
    ]);
  });

  test('[M4] children are removed, and their ids are not reused', async () => {
    const machine = make();
    await machine.command('hire');
    expect(machine.tree.root.children.map(({ id }) => id)).toEqual(['root.1']);
    await machine.command('reset', {}, { instanceId: 'root' });
    expect(machine.tree.root).toMatchObject({ node: 'second', children: [] });
    expect(machine.primary?.id).toBe('root');
    const { steps } = await run(machine, ['I am second.'], { input: 'Who?' });
    expect(steps.at(-1)?.response).toBe('I am second.');
    expect(machine.tree.root.born).toBe(1);
  });
});

describe('what a transition says', () => {
  test('[M7] its result says what happened, after it has happened', async () => {
    const machine = make();
    const seen: unknown[] = [];
    const { steps } = await run(machine, [{ toolName: 'transition_with' }, 'Hello.'], {
      input: 'Hi.',
      onEvent: (event) => {
        if (event.type === 'tool-call.complete') seen.push(event.outcome.text, machine.tree.root.node);
      },
    });
    expect(seen).toEqual(['Went on to "second".', 'second']);
    expect(outcomes(steps)).toEqual([['transition_with', 'ok', 'Went on to "second".']]);
  });
});
