import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Markdown } from '../../src/parts/text/markdown.tsx';

const shown = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

test('[S28] a document has headings by level, tasks with their state, aligned columns, and its own direction in each paragraph', () => {
  const html = shown(
    '# Report\n\n## Part\n\nText\n\n- [x] done\n- [ ] open\n\n| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\nשלום',
  );
  expect(html).toContain('<p dir="auto" class="font-semibold text-xl">Report</p>');
  expect(html).toContain('<p dir="auto" class="font-semibold text-lg">Part</p>');
  expect(html).toMatch(
    /<li dir="auto" class="ms-5 list-none">☑ .*done.*<\/li><li dir="auto" class="ms-5 list-none">☐ .*open/,
  );
  expect([...html.matchAll(/<td class="[^"]*text-(\w+)">(\d)/g)].map(([, align, cell]) => `${cell} ${align}`)).toEqual([
    '1 left',
    '2 center',
    '3 right',
  ]);
  expect(html).toContain('<p dir="auto">שלום</p>');
});

test.each([
  ['close together', '- [x] done\n- [ ] open'],
  ['apart', '- [x] done\n\n- [ ] open'],
])('[S28] a task of a list shows its state once, as a box, with the items %s', (_, text) => {
  const words = shown(text)
    .replaceAll('</li>', '\n')
    .replaceAll(/<[^>]*>/g, '');
  expect(words).toBe('☑ done\n☐ open\n');
});

test.each(['[*a', 'a*_b ', '_b*', '~a~~b ', '**a', '` a `` b '])(
  '[S28] a paragraph of 20,000 characters that repeats "%s" is shown as it is, without a search for pairs, and the next one is formatted',
  (unit) => {
    const text = unit.repeat(20_000 / unit.length - 10);
    const html = shown(`${text}\n\nand *this*`);
    expect(html).not.toMatch(/<(?:strong|del|code)/);
    expect(html.match(/<em>/g)).toHaveLength(1);
    expect(html).toContain('<p dir="auto">and <em>this</em></p>');
    expect(html).toContain(text.trim());
  },
);

test('[S28] a long list with a word in bold in each of its items is formatted', () => {
  const html = shown(Array.from({ length: 700 }, (_, item) => `- **item ${item}** of a_list`).join('\n'));
  expect(html.match(/<strong>/g)).toHaveLength(700);
});
