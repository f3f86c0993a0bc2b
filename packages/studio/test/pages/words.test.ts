import { ClientError } from '@lastcall/client';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { adviceFor, canRedrive, errorInWords, eventInWords, inboxInWords } from '../../src/pages/agent/inbox-words.ts';
import { cronInWords, dueInWords } from '../../src/pages/agent/plan-words.ts';
import { percent } from '../../src/pages/evaluations/score-words.ts';
import { scopesInWords } from '../../src/pages/settings/scopes.ts';
import { dayOf } from '../../src/pages/space/rows.ts';
import { schemaRows } from '../../src/pages/tools/schema-rows.ts';
import { progressOf } from '../../src/parts/cards/call-shape.ts';
import { sizeInWords } from '../../src/parts/files/size-in-words.ts';
import { retryAt, signInWords } from '../../src/parts/session/sign-in-words.ts';
import { duration, Time } from '../../src/parts/ui/time.tsx';
import { amountInWords, moneyInWords } from '../../src/parts/usage/amounts.ts';

test('[S7] an event, the reason of its failure and what to do are shown as text', () => {
  const from = { entityId: 'e', name: 'Ada', kind: 'human' } as const;
  const message = {
    type: 'space_message',
    messageId: 'm',
    spaceId: 's',
    spaceName: 'Desk',
    from,
    text: 'Hello',
  } as const;
  expect(eventInWords(message)).toBe('Ada in Desk: “Hello”');
  expect(eventInWords({ type: 'service', source: 'shop', name: 'order.paid' })).toBe('order.paid from shop');
  expect(
    eventInWords({
      type: 'tool_result',
      callId: 'c',
      toolName: 'pay',
      outcome: { status: 'denied', reason: 'no' },
      resolvedBy: { entityId: 'e', name: 'Ben' },
    }),
  ).toBe('pay was denied by Ben');
  expect(errorInWords({ reason: 'error', error: 'No key.' })).toBe('No key.');
  expect(errorInWords({ reason: 'budget', until: Date.UTC(2026, 0, 2) })).toBe(
    'A spend limit is reached. It waits until 2026-01-02 00:00 UTC.',
  );
  const held = { status: 'withheld', error: { code: 'hop_limit', message: 'Too many.' } } as const;
  expect(adviceFor(held)).toContain('Redriving it lets it through');
  expect([canRedrive(held), canRedrive({ status: 'done' })]).toEqual([true, false]);
  expect(inboxInWords({ pending: 2, dead: 1, withheld: 0 })).toBe('2 wait, 1 dead');
});

test('[S7] plans show when they are due next, in their own time zone', () => {
  const at = Date.UTC(2026, 10, 16, 8, 0);
  expect(dueInWords(at, at - 14 * 3_600_000, 'Europe/Berlin')).toBe('Mon 16 Nov, 09:00 (Europe/Berlin), in 14 h');
  expect(
    [
      '0 9 * * *',
      '30 8 * * 1-5',
      '0 7 * * 1',
      '0 8 * * MON-FRI',
      '15 7 * * sun',
      '*/15 * * * *',
      '5 * * * *',
      '0 0 1 * *',
    ].map(cronInWords),
  ).toEqual([
    'every day at 09:00',
    'Monday to Friday at 08:30',
    'every Monday at 07:00',
    'Monday to Friday at 08:00',
    'every Sunday at 07:15',
    'every 15 minutes',
    'every hour at :05',
    'cron 0 0 1 * *',
  ]);
});

test('[S7] a schema is shown as a list of fields', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string', maxLength: 100, description: 'Where.' },
      guests: { type: 'array', items: { $ref: '#/$defs/guest' }, minItems: 1 },
      room: { enum: ['single', 'double'], default: 'single' },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['city'],
    $defs: {
      guest: { type: 'object', properties: { age: { type: 'integer', minimum: 0, maximum: 9007199254740991 } } },
    },
  };
  expect(
    schemaRows(schema)?.map(({ path, type, rules, isRequired }) => [path, type, rules.join(), isRequired]),
  ).toEqual([
    ['city', 'text', 'at most 100 characters', true],
    ['guests', 'list of object', 'at least 1 entries', false],
    ['guests[].age', 'whole number', 'at least 0', false],
    ['room', '"single" or "double"', 'otherwise "single"', false],
    ['note', 'text or nothing', '', false],
  ]);
  expect(schemaRows({ type: 'string' })).toBeUndefined();
  expect(schemaRows({ type: 'object', properties: {} })).toEqual([]);
});

test('[S8] each refusal to sign in says what to do', () => {
  const codes = ['link_not_valid', 'too_many_attempts', 'unauthorized', 'cross_origin', 'unreachable', 'else'];
  for (const code of codes) expect(signInWords(new ClientError(code, 'm')).advice).not.toBe('');
  const reasons = ['used', 'expired', 'revoked', 'unknown', 'of a newer gateway'];
  const titles = reasons.map(
    (reason) => signInWords(new ClientError('link_not_valid', 'm', { details: { reason } })).title,
  );
  expect(titles).toEqual([
    'This link has already been used.',
    'This link has expired.',
    'This link no longer works.',
    'The gateway does not know this link.',
    'The gateway does not know this link.',
  ]);
  expect(retryAt(new ClientError('too_many_attempts', 'm', { retryAfterMs: 5_000 }), 1_000)).toBe(6_000);
  expect(scopesInWords(['read', 'admin'])).toContain('admin');
  expect(scopesInWords([])).toContain('the person’s rights');
});

test('[S8] durations and sizes are rounded into the next unit, and never to 60 seconds or 1,000 of a unit', () => {
  const times = [42, 999.4, 999.6, 1_940, 9_960, 10_400, 59_400, 59_700, 60_000, 119_999, 3_600_000, 172_800_000];
  expect(times.map(duration)).toEqual([
    '42 ms',
    '999 ms',
    '1.0 s',
    '1.9 s',
    '10 s',
    '10 s',
    '59 s',
    '1 min',
    '1 min',
    '1 min',
    '1 h',
    '2 d',
  ]);
  const sizes = [999, 1_000, 999_400, 999_600, 3_420_000, 999_960_000, 1_200_000_000];
  expect(sizes.map(sizeInWords)).toEqual(['999 bytes', '1 kB', '999 kB', '1.0 MB', '3.4 MB', '1.0 GB', '1.2 GB']);
});

test('[S8] a rounded number does not say that nothing was spent, that money was another amount, or that all is done', () => {
  const money = [0, 0.00002, 0.0042, 0.5, 1.234, 1_234.56].map((cost) =>
    moneyInWords({ cost, currency: 'USD', estimated: false }),
  );
  expect(money).toEqual(['0.00 USD', '<0.0001 USD', '0.0042 USD', '0.50 USD', '1.23 USD', '1,234.56 USD']);
  expect([0.00001234, 0.0423, 1_234.56].map(amountInWords)).toEqual(['0.0000123', '0.0423', '1,234.56']);
  expect([0, 0.002, 0.833, 0.997, 1].map(percent)).toEqual(['0 %', '1 %', '83 %', '99 %', '100 %']);
  expect([0.29, 0.998, 1].map((part) => progressOf(part).words)).toEqual(['29 %', '99 %', '100 %']);
});

test('[S8] a time of another year shows its year, and a time of this year does not', () => {
  const year = new Date().getFullYear();
  const shown = (at: number): string => renderToStaticMarkup(createElement(Time, { at })).replaceAll(/<[^>]*>/g, '');
  const dayAbove = (createdAt: number): string | undefined => dayOf({ message: { createdAt } } as never, undefined);
  const before = new Date(year - 1, 5, 1).getTime();
  expect(shown(before)).toContain(`${year - 1}`);
  expect(dayAbove(before)).toContain(`${year - 1}`);
  const now = new Date(year, 0, 1).getTime();
  expect(shown(now)).not.toContain(`${year}`);
  expect(dayAbove(now) ?? '').not.toContain(`${year}`);
});
