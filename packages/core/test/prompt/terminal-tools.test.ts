import { expect, test } from 'vitest';
import { z } from 'zod';
import { section } from '../../src/contract/section.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import { withTerminalTools } from '../../src/prompt/terminal-tools.ts';
import { createSession } from '../../src/session/create-session.ts';
import type { Session } from '../../src/session/session.ts';
import { slice } from '../../src/session/slice.ts';
import { configureTools } from '../../src/tools/configure-tools.ts';
import { echo } from './echo.ts';

const answer = { ...echo, terminal: true, description: 'Gives the answer.' };
const list = (...lines: string[]): string =>
  `## Terminal Tools
These tools generate your final response:
${lines.join('\n')}

When you call a terminal tool, its output IS your response. Do not add text after calling one.`;

test('[T45] the terminal tools are listed after the instructions, exactly those, in their order', () => {
  const tools = { zeta: answer, plain: echo, alpha: { ...answer, description: 'Gives up.' } };
  expect(withTerminalTools('Be brief.', tools, createSession())).toBe(
    `Be brief.\n\n${list('- zeta: Gives the answer.', '- alpha: Gives up.')}`,
  );
});

test('[T45] instructions without terminal tools are unchanged, byte for byte', () => {
  for (const text of ['Be brief. \n', '']) expect(withTerminalTools(text, { plain: echo }, createSession())).toBe(text);
  expect(withTerminalTools('x', {}, createSession())).toBe('x');
});

test('[T45] without instructions the text is only the list', () => {
  expect(withTerminalTools('', { answer }, createSession())).toBe(list('- answer: Gives the answer.'));
});

test("[T45] a prompt's text ends with the list of its terminal tools, once", () => {
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({
        key: 'a',
        title: 'A',
        template: 'Text.',
        tools: { look: echo },
        children: [section({ key: 'b', title: 'B', template: '', tools: { answer } })],
      }),
      section({ key: 'off', title: 'Off', template: '', enabled: false, tools: { never: answer } }),
      section({ key: 'c', title: 'C', template: '', tools: { close: answer } }),
    ],
  });
  expect(made.render().system).toBe(
    `## A\n\nText.\n\n### B\n\n## C\n\n${list('- answer: Gives the answer.', '- close: Gives the answer.')}`,
  );
});

test('[T45] tools made elsewhere are listed once they are configured to be terminal', () => {
  const foreign = { description: 'Made elsewhere.', inputSchema: z.object({}), execute: () => 'x' };
  const set = configureTools({ foreign, bare: { execute: () => 'x' } }, { '*': { terminal: true } });
  expect(withTerminalTools('', set, createSession())).toBe(list('- foreign: Made elsewhere.', '- bare:'));
});

test('[T45] a description that is a function is called at each rendering', () => {
  const count = slice('count', { initial: 0, on: { Counted: (n) => n + 1 } });
  const session = createSession({ slices: [count] });
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({
        key: 'a',
        title: 'A',
        template: '',
        tools: { answer: { ...answer, description: (now: Session) => `Answer number ${now.read(count)}.` } },
      }),
    ],
  });
  expect(made.render({ session }).system).toContain('- answer: Answer number 0.');
  session.dispatch({ type: 'Counted' });
  expect(made.render({ session }).system).toContain('- answer: Answer number 1.');
});

test('[T45] a description of several lines is folded to one', () => {
  const description = 'Gives \n\n the answer.\r\n## Not a heading\u2028nor a line';
  expect(withTerminalTools('', { answer: { ...answer, description } }, createSession())).toBe(
    list('- answer: Gives the answer. ## Not a heading nor a line'),
  );
});
