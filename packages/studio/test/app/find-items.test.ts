import { expect, test } from 'vitest';
import { findItems, looksLikeId, type PaletteItem } from '../../src/app/find-items.ts';

const item = (kind: PaletteItem['kind'], text: string, detail?: string): PaletteItem => ({
  id: `${kind}-${text}`,
  kind,
  text,
  detail,
  run: () => {},
});

const items = [
  item('Page', 'Agents'),
  item('Space', 'Travel desk', 'Ada talks to the concierge here.'),
  item('Agent', 'Concierge'),
  item('Tool', 'confirm_booking', 'Asks people.'),
  item('Command', 'Pause Concierge'),
];

test('items that begin with the query come first, then words inside names, then descriptions', () => {
  expect(findItems(items, 'con').map(({ text }) => text)).toEqual([
    'Concierge',
    'confirm_booking',
    'Pause Concierge',
    'Travel desk',
  ]);
  expect(findItems(items, 'pause con').map(({ text }) => text)).toEqual(['Pause Concierge']);
  expect(findItems(items, 'agent').map(({ text }) => text)).toEqual(['Agents', 'Concierge']);
  expect(findItems(items, '')).toHaveLength(5);
  expect(findItems(items, 'nothing like it')).toEqual([]);
});

test('only a query that may be a complete id is offered as a run', () => {
  expect(['01a1e1ac-8de8-73a1-847f-b44284f7c840', 'concierge', 'a b', '12'].map(looksLikeId)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
