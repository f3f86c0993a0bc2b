import { requires, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node, to } from '@lastcall/machines';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigError, defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';

const inputSchema = z.object({});
const look = tool({ description: 'Looks.', inputSchema, execute: () => 'Seen.' });
const pay = tool({ description: 'Pays.', inputSchema, execute: () => 'Paid.' });
const call = (toolName: string) => [{ toolName, input: {} }];

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path} ${message}`);
    throw error;
  }
  return [];
}

const open = node({
  instructions: 'Be open.',
  tools: { look, pay },
  transitions: { close: { description: 'Closes.', inputSchema, targets: ['shut'], handler: () => to('shut') } },
});
const shut = node({ instructions: 'Be shut.', tools: { look } });

it('[A1] policies of a definition may name tools of nodes, and unknown names are refused with the nearest', () => {
  const machine = charter({ nodes: { open, shut } });
  expect(problemsOf(() => defineAgent({ machine, policies: [requires({ pay: ['look'] })] }))).toEqual([]);
  expect(problemsOf(() => defineAgent({ machine, policies: [requires({ transition_close: ['look'] })] }))).toEqual([]);
  expect(problemsOf(() => defineAgent({ machine, policies: [requires({ pya: ['look'] })] }))).toEqual([
    'policies[0] names the tool "pya", which this definition does not have. Did you mean "pay"?',
  ]);
});

it('[A15] policies of a definition apply to the tools of nodes, also after a transition', async () => {
  const machine = charter({ nodes: { open, shut } });
  const desk = defineAgent({ machine, policies: [requires({ pay: ['look'], transition_close: ['pay'] })] });
  const model = scriptedModel([
    call('pay'),
    call('transition_close'),
    call('look'),
    call('pay'),
    call('transition_close'),
    'Done.',
  ]);
  const agents = [{ name: 'Desk', definition: 'desk' }];
  await using gateway = await startTestGateway({ model, definitions: { desk }, agents });
  const { run_id, response } = await gateway.api('/api/chat', { agent: 'Desk', message: 'Pay.' });
  expect(response).toBe('Done.');
  const { items } = await gateway.api(`/api/runs/${run_id}/transcript`);
  const ends = items.flatMap(({ entry: { kind, settlement } }: { entry: Entry }) =>
    kind === 'settled' ? [`${settlement.toolName} ${settlement.outcome.status}`] : [],
  );
  expect(ends).toEqual(['pay error', 'transition_close error', 'look ok', 'pay ok', 'transition_close ok']);
});

interface Entry {
  readonly kind: string;
  readonly settlement: { readonly toolName: string; readonly outcome: { readonly status: string } };
}

it('[A15] names of built-in tools are refused in nodes when the definition is made, all at once', () => {
  const wrong = node({ instructions: 'Be wrong.', tools: { send_message: look, look } });
  const first = node({
    instructions: 'Be first.',
    tools: { enter_space: pay },
    transitions: { next: { description: 'Next.', inputSchema, targets: [wrong], handler: () => to(wrong) } },
  });
  const machine = charter({ nodes: { first }, tools: { set_memories: look } });
  const problems = problemsOf(() => defineAgent({ machine, tools: { set_goals: look } }));
  expect(problems).toHaveLength(4);
  for (const [index, [path, name]] of [
    ['tools.set_goals', 'set_goals'],
    ['machine.tools.set_memories', 'set_memories'],
    ['machine.nodes.first.tools.enter_space', 'enter_space'],
    ['machine.nodes.first.transitions.next', 'send_message'],
  ].entries()) {
    expect(problems[index]).toContain(path);
    expect(problems[index]).toContain(`must not be "${name}": every agent has a built-in tool of that name.`);
  }
});

it('[A1] the list of tools has those of definitions, with the definition and its agents, and of nodes', async () => {
  const other = tool({ description: 'Looks elsewhere.', inputSchema, execute: () => 'Seen.' });
  const machine = charter({ nodes: { open, shut: node({ instructions: 'Be shut.', tools: { look: other } }) } });
  const approved = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'Paid.' });
  await using gateway = await startTestGateway({
    model: scriptedModel([]),
    tools: { look },
    definitions: { clerk: defineAgent({ tools: { pay: approved } }), desk: defineAgent({ machine }) },
    agents: [
      { name: 'Clerk', definition: 'clerk', tools: ['look'] },
      { name: 'Other clerk', definition: 'clerk', instructions: 'Say "definition":"desk".' },
      { name: 'Desk', definition: 'desk' },
    ],
  });
  const { items } = await gateway.api('/api/tools?source=definition');
  expect(items.map(({ id, definition, usedBy }: Listed) => [id, definition, usedBy.map(({ name }) => name)])).toEqual([
    ['clerk:pay', 'clerk', ['Clerk', 'Other clerk']],
    ['desk:look', 'desk', ['Desk']],
    ['desk:nodes.shut.tools.look', 'desk', ['Desk']],
    ['desk:pay', 'desk', ['Desk']],
  ]);
  const found = await gateway.api('/api/tools/desk:nodes.shut.tools.look');
  expect(found).toMatchObject({ name: 'look', description: 'Looks elsewhere.', source: 'definition' });
  // A plain name means the tool that agents can use.
  const named = await gateway.api('/api/tools/look');
  expect(named).toMatchObject({ source: 'file', usedBy: [{ name: 'Clerk' }] });
  const made = await gateway.api('/api/tools', { name: 'pay', executionType: 'internal', execution: { value: 1 } });
  expect(made).toMatchObject({ name: 'pay', source: 'api', usedBy: [] });
  expect((await gateway.request(`/api/tools/${made.id}`, undefined, { method: 'DELETE' })).status).toBe(200);
  const tried = await gateway.request('/api/tools/clerk:pay/test', { input: {} });
  expect([tried.status, await tried.text()]).toEqual([409, expect.stringContaining('works only in a run of an agent')]);
});

interface Listed {
  readonly id: string;
  readonly definition: string;
  readonly usedBy: readonly { readonly name: string }[];
}
