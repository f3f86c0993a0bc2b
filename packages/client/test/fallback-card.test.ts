import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { type Card, type CardState, FallbackCard } from '../src/react/index.ts';

const call: Omit<Card, 'input'> = {
  ...{ callId: 'c1', runId: 'r1', spaceId: 's1', toolName: 'send_contract', kind: 'approval', inputText: '' },
  ...{ output: undefined, progress: undefined, callStatus: 'waiting' },
};

function shown(input: unknown, more: Partial<Card> = {}, state: CardState = { status: 'waiting' }): string {
  const props = {
    call: { ...call, input, ...more },
    state,
    answer: () => Promise.reject(),
  };
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
  // Also without a style sheet, line breaks are kept and long words are broken.
  expect(html).toContain('white-space:pre-wrap;overflow-wrap:anywhere');
  expect(html).toContain('false');
});

test('[S21] the card for any call does not approve a call whose input is missing or has parts that were not opened', () => {
  expect(shown(undefined)).toContain('<button type="button" disabled="">Approve</button>');
  expect(shown({})).toContain('<button type="button">Approve</button>');
  const long = shown({ to: 'Oslo', body: 'A line.\n'.repeat(40) });
  expect(long).toContain('Approve is off until you have opened all of the input: 1 part is closed.');
  expect(long).toMatch(/<button type="button" disabled="" aria-describedby="[^"]+">Approve<\/button>/);
  expect(long).toContain('<summary>Show all 320 characters</summary>');
  // Short fields come first.
  expect(long.indexOf('<dt>to</dt>')).toBeLessThan(long.indexOf('<dt>body</dt>'));
});

test('[S21] the card for any call names fields by the title and description of the schema', () => {
  const resultSchema = { properties: { replicas: { title: 'Copies', description: 'At most ten.' } } };
  const html = shown({ replicas: 3 }, { resultSchema });
  expect(html).toContain('<dt>Copies<code> replicas</code><small style="display:block">At most ten.</small></dt>');
});

test('[S10] the card for any call has yes and no, choices or a form, as the result needs, and JSON for everything else', () => {
  const asking = (resultSchema: object): string =>
    shown({ question: 'Which one?' }, { kind: 'result', resultSchema: resultSchema as never });
  expect(asking({ type: 'boolean' })).toContain('<button type="button">Yes</button><button type="button">No</button>');
  const choices = asking({ type: 'object', properties: { room: { enum: ['Blue', 'Red'] } } });
  expect(choices).toContain('<button type="button">Blue</button><button type="button">Red</button>');
  const form = asking({
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name' },
      nights: { type: 'integer' },
      breakfast: { type: 'boolean' },
    },
    required: ['name'],
  });
  for (const part of ['>Your name</label>', '>nights (optional)</label>', '<option value="0">Yes</option>'])
    expect(form).toContain(part);
  expect(form).toContain('<button type="button" disabled="">Send</button>');
  expect(asking({ type: 'array', items: {} })).toContain('aria-label="Answer as JSON"');
});

test('[O9] the card for any call edits before it approves, and allows later calls unless they cannot be allowed', () => {
  const html = shown({ amount: 40 });
  for (const word of ['Approve', 'Edit …', 'Allow more …'])
    expect(html).toContain(`<button type="button">${word}</button>`);
  expect(shown({ amount: 40 }, { mayGrant: false })).not.toContain('Allow more');
  const closed = shown({ body: 'A line.\n'.repeat(40) });
  for (const word of ['Edit …', 'Allow more …'])
    expect(closed).toMatch(new RegExp(`<button type="button" disabled="" aria-describedby="[^"]+">${word}</button>`));
});

test('the card for any call does not say that an approved call runs, because its agent may not have come to it', () => {
  const by = { id: 'ada', name: 'Ada' };
  const running = { status: 'running' } as const;
  expect(shown({}, { decision: 'approve', by }, running)).toContain('Approved. There is no result yet. (Ada)');
  expect(shown({}, { kind: 'input', decision: 'result', by }, running)).toContain('Running. (Ada)');
});
