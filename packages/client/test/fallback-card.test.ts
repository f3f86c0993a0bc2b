import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { type Card, FallbackCard } from '../src/react/index.ts';

const call: Omit<Card, 'input'> = {
  ...{ callId: 'c1', runId: 'r1', spaceId: 's1', toolName: 'send_contract', kind: 'approval', inputText: '' },
  ...{ output: undefined, progress: undefined, callStatus: 'waiting' },
};

function shown(input: unknown): string {
  const props = { call: { ...call, input }, state: { status: 'waiting' } as const, answer: () => Promise.reject() };
  return renderToStaticMarkup(createElement(FallbackCard, props));
}

test('[S21] the card for any call shows all of the input by field, with line ends and hidden characters, and cuts nothing', () => {
  const body = `${'The buyer keeps the goods.\n'.repeat(1_400)}and pay 9,999 to X`;
  const html = shown({
    body,
    to: 'Oslo \u202eyned\u202c',
    lines: Array.from({ length: 100 }, (_, index) => ({ item: `Item ${index + 1}` })),
    nested: { dryRun: false },
  });
  expect(html).toContain(body);
  expect(html).toContain('Oslo [U+202E]yned[U+202C]');
  expect(html).toContain('Item 100');
  for (const name of ['body', 'to', 'lines', 'item', 'nested', 'dryRun']) expect(html).toContain(`<dt>${name}</dt>`);
  // A page without a style of its own breaks lines where they are, and long words too.
  expect(html).toContain('white-space:pre-wrap;overflow-wrap:anywhere');
  expect(html).toContain('false');
});

test('[S21] the card for any call approves nothing whose input is not there', () => {
  expect(shown(undefined)).toContain('<button type="button" disabled="">Approve</button>');
  expect(shown({})).toContain('<button type="button">Approve</button>');
});
