import { expect, test } from 'vitest';
import { initialsOf } from '../../src/parts/ui/initials.ts';

test.each([
  ['Ada', 'A'],
  ['Ada Lovelace', 'AL'],
  ['Ada King of Lovelace', 'AL'],
  ['order-bot_2', 'O2'],
  ['émile zola', 'ÉZ'],
  ['שרה', 'ש'],
  ['👩‍🚀', '?'],
  ['', '?'],
])('[S8] the initials of %j are %j', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});
