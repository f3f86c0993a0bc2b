import { expect, test } from 'vitest';
import { z } from 'zod';
import { section } from '../../src/contract/section.ts';
import type { ToolSet } from '../../src/contract/tool-set.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import { tool } from '../../src/tools/tool.ts';
import { echo } from './echo.ts';

const find = tool({
  description: 'Finds books.',
  inputSchema: z.object({ query: z.string(), year: z.number().nullish() }),
  outputSchema: z.object({ titles: z.array(z.string()) }),
  examples: [
    { description: 'By its author', input: { query: 'le guin', year: null }, output: { titles: ['Lavinia'] } },
    { description: 'Nothing found', input: { query: '?' }, output: { titles: [] } },
  ],
  execute: () => ({ titles: [] }),
});

const textOf = (tools: ToolSet): string =>
  prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({
        key: 'a',
        title: 'A',
        template: 'Text of A.',
        tools,
        children: [section({ key: 'b', title: 'B', template: 'Text of B.' })],
      }),
    ],
  }).render().system;

test('[T46] examples are shown in their section, after its text and before its children', () => {
  expect(textOf({ find })).toBe(
    [
      '## A',
      'Text of A.',
      'Example of find: By its author\nInput: {"query":"le guin","year":null}\nOutput: {"titles":["Lavinia"]}',
      'Example of find: Nothing found\nInput: {"query":"?"}\nOutput: {"titles":[]}',
      '### B',
      'Text of B.',
    ].join('\n\n'),
  );
});

test("[T46] the outputs of examples are formatted by the tool's own renderer, as results are", () => {
  const rendered = {
    ...find,
    render: ({ titles }: { titles: string[] }) => `Found ${titles.length}:\n* ${titles.join()}`,
  };
  expect(textOf({ find: rendered })).toContain(
    'Input: {"query":"le guin","year":null}\nOutput:\nFound 1:\n* Lavinia\n\n',
  );
});

test('[T46] a renderer that throws shows the output as JSON', () => {
  const failing = {
    ...find,
    render: (): string => {
      throw new Error('no');
    },
  };
  expect(textOf({ find: failing })).toContain('Output: {"titles":["Lavinia"]}');
});

test('[T46] an example without an output shows none, and tools without examples show nothing', () => {
  const example = { description: 'Say it', input: { text: 'hi' } };
  expect(textOf({ say: { ...echo, examples: [example] }, echo })).toContain(
    'Text of A.\n\nExample of say: Say it\nInput: {"text":"hi"}\n\n### B',
  );
});

test('[T46] examples that contain placeholders are shown unchanged', () => {
  const example = { description: 'Say {{it}}', input: { text: '{{it}}' }, output: '{{it}}' };
  expect(textOf({ say: { ...echo, examples: [example] } })).toContain(
    'Example of say: Say {{it}}\nInput: {"text":"{{it}}"}\nOutput: {{it}}',
  );
});

test('[T46] a section that is only summarised shows no examples', () => {
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({ key: 'a', title: 'A', template: '', visibility: 'summary', summary: 'Short.', tools: { find } }),
    ],
  });
  expect(made.render().system).not.toContain('find');
});
