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
  expect(html).toMatch(/<li dir="auto" class="list-none">☑ .*done.*<\/li><li dir="auto" class="list-none">☐ .*open/);
  expect([...html.matchAll(/<td class="[^"]*text-(\w+)">(\d)/g)].map(([, align, cell]) => `${cell} ${align}`)).toEqual([
    '1 left',
    '2 center',
    '3 right',
  ]);
  expect(html).toContain('<p dir="auto">שלום</p>');
});
