import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { charter, listTools, node, pack, to } from '../../src/index.ts';

const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });

test('the tools of a charter are listed with their places, and transitions by the names that models see', () => {
  const inner = node({ instructions: 'inner', tools: { pay: look } });
  const bag = pack({ name: 'bag', state: z.object({}), tools: { open: look } });
  const first = node({
    instructions: 'first',
    state: z.object({ n: z.number().default(0) }),
    tools: { look },
    packs: [bag],
    transitions: { go: { description: 'Goes.', targets: [inner], handler: () => to(inner) } },
  });
  const listed = listTools(charter({ nodes: { first }, tools: { help: look }, packs: [bag] }));
  expect(listed.map(({ name, path, node: of, tool: code }) => [name, path, of, code !== undefined])).toEqual([
    ['help', 'tools.help', undefined, true],
    ['open', 'packs.bag.tools.open', undefined, true],
    ['look', 'nodes.first.tools.look', 'first', true],
    ['transition_go', 'nodes.first.transitions.go', 'first', false],
    ['updateState', 'nodes.first.updateState', 'first', false],
    ['pay', expect.stringMatching(/^nodes\.first\.transitions\.go.*\.tools\.pay$/), expect.any(String), true],
  ]);
});
