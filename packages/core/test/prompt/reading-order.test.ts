import { tool as aiTool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { section } from '../../src/contract/section.ts';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import type { Policy } from '../../src/policies/policy.ts';
import { requires } from '../../src/policies/requires.ts';
import { prompt, renderPrompt } from '../../src/prompt/build-prompt.ts';
import { createSession } from '../../src/session/create-session.ts';
import { echo } from './echo.ts';

const library = prompt({
  ns: 'tests',
  key: 'library',
  sections: [
    section({
      key: 'books',
      title: 'Books',
      template: 'Find books.',
      tools: { zebra: echo },
      children: [
        section({
          key: 'loans',
          title: 'Loans',
          template: 'Lend them.',
          tools: { lend: echo },
          children: [section({ key: 'late', title: 'Late ones', template: 'Remind.', tools: { remind: echo } })],
        }),
        section({ key: 'shelves', title: 'Shelves', template: 'Sort them.', tools: { sort: echo } }),
      ],
    }),
    section({ key: 'rooms', title: 'Rooms', template: 'Book rooms.', tools: { book: echo, apple: echo } }),
  ],
});

test('[T41] the tools of the sections come in reading order, depth first', () => {
  expect(Object.keys(library.render().tools)).toEqual(['zebra', 'lend', 'remind', 'sort', 'book', 'apple']);
});

test('[T41] the text has the sections in the same order, with headings by depth', () => {
  expect(library.render().system).toBe(
    [
      '## Books\n\nFind books.',
      '### Loans\n\nLend them.',
      '#### Late ones\n\nRemind.',
      '### Shelves\n\nSort them.',
      '## Rooms\n\nBook rooms.',
    ].join('\n\n'),
  );
});

test('[T41] headings stop at six marks, however deep the sections go', () => {
  const nest = (depth: number): ReturnType<typeof section> =>
    section({ key: 'k', title: `At ${depth}`, template: '', children: depth === 8 ? [] : [nest(depth + 1)] });
  const { system } = prompt({ ns: 'tests', key: 'deep', sections: [nest(1)] }).render();
  expect(system.split('\n\n').map((line) => line.split(' ')[0]?.length)).toEqual([2, 3, 4, 5, 6, 6, 6, 6]);
});

test('[T41] tools of the AI SDK can be used in a section unchanged', async () => {
  const add = aiTool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });
  const sums = prompt({
    ns: 'tests',
    key: 'sums',
    sections: [section({ key: 's', title: 'Sums', template: '', tools: { add } })],
  });
  expect(sums.render().tools.add).toBe(add);
  const { outcome } = await dispatchCall({ instructions: sums, call: { toolName: 'add', input: { a: 1, b: 2 } } });
  expect(outcome).toMatchObject({ status: 'ok', value: 3 });
});

test('[T9] renderings share the same tool objects, also if policies are added, and the definitions stay unchanged', () => {
  const policy: Policy = { name: 'watch', beforeCall: () => true };
  const guarded = prompt({
    ns: 'tests',
    key: 'guarded',
    sections: [
      section({ key: 'free', title: 'Free', template: '', tools: { free: echo } }),
      section({ key: 'kept', title: 'Kept', template: '', tools: { kept: echo }, policies: [policy] }),
    ],
  });
  const [one, other] = [guarded.render().tools, guarded.render().tools];
  expect(one.free).toBe(echo);
  expect(one.kept).toBe(other.kept);
  expect(one.kept).toMatchObject({ policies: [policy] });
  expect(echo).not.toHaveProperty('policies');
});

test("a call is checked by the prompt's policies, then by each section's from the top, then by the tool's own", async () => {
  const asked: string[] = [];
  const watch = (name: string): Policy => ({ name, beforeCall: () => void asked.push(name) });
  const guarded = prompt({
    ns: 'tests',
    key: 'guarded',
    policies: [watch('prompt')],
    sections: [
      section({
        key: 'outer',
        title: 'Outer',
        template: '',
        policies: [watch('outer')],
        children: [
          section({
            key: 'inner',
            title: 'Inner',
            template: '',
            policies: [watch('inner')],
            tools: { act: { ...echo, policies: [watch('tool')] } },
          }),
          section({ key: 'beside', title: 'Beside', template: '', policies: [watch('beside')] }),
        ],
      }),
    ],
  });
  await dispatchCall({ instructions: guarded, call: { toolName: 'act', input: { text: 'x' } } });
  expect(asked).toEqual(['prompt', 'outer', 'inner', 'tool']);
});

test('[T47] a required tool may be in another section', async () => {
  const session = createSession();
  const release = prompt({
    ns: 'tests',
    key: 'release',
    sections: [
      section({ key: 'checks', title: 'Checks', template: '', tools: { test: echo } }),
      section({
        key: 'ship',
        title: 'Ship',
        template: '',
        tools: { deploy: echo },
        policies: [requires({ deploy: ['test'] })],
      }),
    ],
  });
  const call = (toolName: string) =>
    dispatchCall({ instructions: release, session, call: { toolName, input: { text: 'x' } } });
  expect((await call('deploy')).outcome).toMatchObject({ status: 'error', code: 'denied' });
  await call('test');
  expect((await call('deploy')).outcome.status).toBe('ok');
});

test('a turn can have the text without the list of terminal tools', () => {
  const ending = prompt({
    ns: 'tests',
    key: 'ending',
    sections: [
      section({ key: 'end', title: 'End', template: 'Answer.', tools: { answer: { ...echo, terminal: true } } }),
    ],
  });
  expect(renderPrompt(ending).body).toBe('## End\n\nAnswer.');
  expect(Object.keys(renderPrompt(ending).tools)).toEqual(['answer']);
  expect(() => renderPrompt({ ...ending })).toThrow('prompt()');
});
