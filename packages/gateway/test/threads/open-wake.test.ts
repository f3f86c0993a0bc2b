import { expect, test } from 'vitest';
import { addWake, makeUrgent, toWake } from '../../src/runtime/open-wake.ts';

test('a wake is urgent if a person waits', () => {
  expect(toWake(true)).toBe('urgent');
  expect(toWake(false)).toBe('woken');
});

test('a later wake counts if there was none', () => {
  expect(addWake('none', 'woken')).toBe('woken');
  expect(addWake('none', 'urgent')).toBe('urgent');
});

test('a later wake makes a wake urgent, and never less urgent', () => {
  expect(addWake('woken', 'urgent')).toBe('urgent');
  expect(addWake('urgent', 'woken')).toBe('urgent');
});

test('no later wake changes nothing', () => {
  expect(addWake('none', 'none')).toBe('none');
  expect(addWake('woken', 'none')).toBe('woken');
  expect(addWake('urgent', 'none')).toBe('urgent');
});

test('a wake whose events were read does not become urgent', () => {
  expect(makeUrgent('none')).toBe('none');
  expect(makeUrgent('woken')).toBe('urgent');
});
