import type { Member, PendingCall } from '@lastcall/client';
import type { SpaceItem } from '@lastcall/client/react';
import { cardKind, choicesOf, questionOf, yesAndNo } from '@lastcall/client/react';
import { expect, test } from 'vitest';
import { groupCalls } from '../../src/pages/inbox/call-groups.ts';
import { withOpened } from '../../src/pages/inbox/opened-calls.ts';
import { dayOf, heardInWords, newSince, startsGroup } from '../../src/pages/space/rows.ts';
import { answerInWords, inWords, progressOf } from '../../src/parts/cards/call-shape.ts';
import { compareValues } from '../../src/parts/cards/compare-values.ts';
import { whoMayAnswer } from '../../src/parts/cards/who-may-answer.ts';

const object = (properties: object): Record<string, unknown> => ({ type: 'object', properties });

test.each([
  ['approve', { kind: 'approval', resultSchema: { type: 'boolean' } }],
  ['confirm', { kind: 'result', resultSchema: { type: 'boolean' } }],
  ['confirm', { kind: 'result', resultSchema: object({ confirmed: { type: 'boolean' } }) }],
  ['choose', { kind: 'result', resultSchema: { enum: ['a', 2] } }],
  ['choose', { kind: 'input', resultSchema: object({ size: { enum: ['S', 'M'] } }) }],
  ['form', { kind: 'result', resultSchema: object({ name: { type: 'string' }, ok: { type: 'boolean' } }) }],
  ['form', { kind: 'result' }],
] as const)('[S3] without a component a call is shown as %s: %j', (expected, call) => {
  expect(cardKind(call)).toBe(expected);
});

test('yes, no and each choice have the values of the schema', () => {
  expect(yesAndNo({ type: 'boolean' })).toEqual({ yes: true, no: false });
  expect(yesAndNo(object({ ok: { type: 'boolean' } }))).toEqual({ yes: { ok: true }, no: { ok: false } });
  expect(choicesOf(object({ size: { enum: ['S', 3] } }))).toEqual([
    { text: 'S', value: { size: 'S' } },
    { text: '3', value: { size: 3 } },
  ]);
  expect(choicesOf({ enum: [] })).toBeUndefined();
  const long = `${'A clause, '.repeat(50)}\nand its end.`;
  expect(choicesOf({ enum: ['S', long] })?.[1]).toEqual({ text: long, value: long });
});

test('the question of an input is found by its name, or is its only text', () => {
  expect(questionOf({ question: 'Book?', city: 'Rome' })).toEqual({ question: 'Book?', rest: { city: 'Rome' } });
  expect(questionOf({ what: 'Book', nights: 3 })).toEqual({ question: 'Book', rest: { nights: 3 } });
  expect(questionOf({ from: 'Rome', to: 'Oslo' })).toEqual({
    question: undefined,
    rest: { from: 'Rome', to: 'Oslo' },
  });
  expect(questionOf('Now?').question).toBe('Now?');
});

test('answers, values and progress are shown as text', () => {
  expect(answerInWords({ result: { confirmed: false } })).toBe('No');
  expect(answerInWords({ approve: true, input: {} })).toBe('Approved with changes');
  expect(answerInWords({ deny: 'Too dear.' })).toBe('Denied: Too dear.');
  expect(inWords({ city: 'Rome', nights: 2 })).toBe('city: Rome, nights: 2');
  expect(inWords('x'.repeat(1_000_000)).length).toBeLessThan(200);
  expect(progressOf({ receipt: 2, of: 4 })).toEqual({ part: 0.5, words: 'receipt 2 of 4' });
  expect(progressOf(0.25)).toEqual({ part: 0.25, words: '25 %' });
  expect(progressOf('halfway')).toEqual({ words: 'halfway' });
  expect(progressOf({ of: 0, done: 1 }).part).toBeUndefined();
});

const member = (displayName: string, role = 'member'): Member => ({
  ...{ spaceId: 's', entityId: displayName, kind: 'human', displayName, role, joinedAt: 0 },
});

test('[S3] who may answer is what the gateway decides: members, those named, those with a role, and operators', () => {
  const members = [member('Ada', 'boss'), member('Ben')];
  const as = (entityId: string, isOperator = false) => ({ entityId, isOperator });
  expect(whoMayAnswer(undefined, members, as('Ben'))).toEqual({ isMine: true, words: 'anyone here may answer' });
  expect(whoMayAnswer(undefined, members, as('Cy')).isMine).toBe(false);
  expect(whoMayAnswer({ roles: ['boss'] }, members, as('Ben'))).toEqual({ isMine: false, words: 'Ada may answer' });
  expect(whoMayAnswer({ roles: ['boss'] }, members, as('Ada')).isMine).toBe(true);
  expect(whoMayAnswer({ entities: ['Ben'] }, members, as('Ben')).isMine).toBe(true);
  expect(whoMayAnswer({ roles: ['boss'] }, members, as('Ben', true)).isMine).toBe(true);
  expect(whoMayAnswer({ roles: ['clerk'] }, members, as('Ben')).words).toBe('every clerk may answer');
});

test('two inputs are compared field by field', () => {
  expect(compareValues({ amount: 120, to: { iban: 'A' } }, { amount: 90, to: { iban: 'A' }, note: 'x' })).toEqual([
    { path: 'amount', before: '120', after: '90', isSame: false },
    { path: 'to.iban', before: 'A', after: 'A', isSame: true },
    { path: 'note', before: undefined, after: 'x', isSame: false },
  ]);
});

const item = (id: string, entityId: string, createdAt: number): SpaceItem =>
  ({ kind: 'text', id, entityId, text: '', message: { createdAt, metadata: {} } }) as unknown as SpaceItem;

test('messages that belong together show one name, and each day its date', () => {
  const noon = new Date(2026, 0, 5, 12).getTime();
  const first = item('1', 'Ada', noon);
  expect(startsGroup(first, undefined)).toBe(true);
  expect(startsGroup(item('2', 'Ada', noon + 60_000), first)).toBe(false);
  expect(startsGroup(item('2', 'Ben', noon + 60_000), first)).toBe(true);
  expect(startsGroup(item('2', 'Ada', noon + 600_000), first)).toBe(true);
  expect(dayOf(item('2', 'Ada', noon + 60_000), first)).toBeUndefined();
  expect(dayOf(item('2', 'Ada', noon + 86_400_000), first)).toContain('6');
  expect(newSince([first, item('2', 'Ada', noon), item('3', 'Ada', noon)], '1')).toBe(2);
  expect(newSince([first], 'gone')).toBe(0);
});

test('the recipients are shown only at their message', () => {
  const heardBy = {
    messageId: '1',
    heard: [
      { entityId: 'Ada', as: 'queued' as const },
      { entityId: 'Ben', as: 'paused' as const },
    ],
  };
  const members = [member('Ada'), member('Ben')];
  expect(heardInWords(item('1', 'Cy', 0), heardBy, members)).toBe('Ada has it; Ben is paused, and gets it later');
  expect(heardInWords(item('2', 'Cy', 0), heardBy, members)).toBeUndefined();
});

test('[S4] an opened call stays in its place once it no longer waits', () => {
  const call = (callId: string, expiresAt?: number): PendingCall => ({ callId, expiresAt }) as PendingCall;
  const [soon, later, never] = [call('soon', 1), call('later', 9), call('never')];
  expect(withOpened([later, never], [soon]).map(({ callId }) => callId)).toEqual(['soon', 'later', 'never']);
  expect(withOpened([soon, later], [never]).map(({ callId }) => callId)).toEqual(['soon', 'later', 'never']);
  expect(withOpened([soon], [soon])).toEqual([soon]);
});

test('[S26] one answer is offered only for identical calls: not for those of two conversations, nor for those with different texts', () => {
  const call = { agentId: 'clerk', toolName: 'close_account', kind: 'approval', input: {}, status: 'pending' };
  const calls = [
    { callId: '1', runId: 'of Ann', ...call },
    { callId: '2', runId: 'of Ben', ...call },
    { callId: '3', runId: 'of Ann', ...call },
    { callId: '4', runId: 'run 1', spaceId: 'desk', display: { title: 'Close account 7' }, ...call },
    { callId: '5', runId: 'run 2', spaceId: 'desk', display: { title: 'Close account 8' }, ...call },
    { callId: '6', runId: 'run 3', spaceId: 'desk', display: { title: 'Close account 8' }, ...call },
  ] as unknown as readonly PendingCall[];
  const groups = groupCalls(calls, { opened: new Set(), split: new Set() });
  expect(groups.map(({ leader, others }) => [leader, ...others].map(({ callId }) => callId))).toEqual([
    ['1', '3'],
    ['2'],
    ['4'],
    ['5', '6'],
  ]);
});
