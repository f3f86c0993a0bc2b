import { expect, test } from 'vitest';
import { checkValue, mergeProblems } from '../../src/parts/form/check-value.ts';
import { fromLocalTime, toLocalTime } from '../../src/parts/form/date-time.ts';
import { type Draft, fieldPaths, readDraft, toDraft } from '../../src/parts/form/draft.ts';
import { readable, toField } from '../../src/parts/form/field.ts';
import { withoutPrefix } from '../../src/parts/form/path.ts';

const booking = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 100, description: 'Where to.' },
    nights: { type: 'integer', minimum: 1, maximum: 30 },
    checkIn: { type: 'string', format: 'date' },
    breakfast: { type: 'boolean' },
    room: { enum: ['single', 'double'] },
    extras: { type: 'array', uniqueItems: true, items: { enum: ['pool', 'parking'] } },
    guests: { type: 'array', items: { $ref: '#/$defs/guest' } },
    address: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] },
    note: { type: ['string', 'null'] },
    anything: { anyOf: [{ type: 'string' }, { type: 'object' }] },
    currency: { const: 'EUR' },
  },
  required: ['city', 'nights', 'note', 'currency'],
  $defs: {
    guest: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number' } }, required: ['name'] },
  },
  additionalProperties: false,
} as const;

const field = toField(booking);

test('[S7] a schema becomes the fields that a person can fill in, and JSON where no field fits', () => {
  const shapes = field.shape.kind === 'object' ? field.shape.properties : [];
  expect(shapes.map(({ name, isRequired, field: { label, shape } }) => [name, label, shape.kind, isRequired])).toEqual([
    ['city', 'City', 'text', true],
    ['nights', 'Nights', 'number', true],
    ['checkIn', 'Check in', 'text', false],
    ['breakfast', 'Breakfast', 'choice', false],
    ['room', 'Room', 'choice', false],
    ['extras', 'Extras', 'choices', false],
    ['guests', 'Guests', 'list', false],
    ['address', 'Address', 'object', false],
    ['note', 'Note', 'text', true],
    ['anything', 'Anything', 'json', false],
    ['currency', 'Currency', 'fixed', true],
  ]);
});

test.each([
  ['a schema that contains itself', { $ref: '#' }],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
  ['anything at all', true],
  ['a reference to nowhere', { $ref: '#/$defs/missing' }],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }],
])('%s is written as JSON', (_, schema) => {
  expect(toField(schema).shape).toEqual({ kind: 'json' });
});

test('a recursive schema is shown as fields to a limited depth, then as JSON', () => {
  const tree = { type: 'object', properties: { name: { type: 'string' }, child: { $ref: '#' } } };
  expect(JSON.stringify(toField(tree))).toContain('"kind":"json"');
});

test('alternatives with a constant each are a choice with their titles, and null is an empty field', () => {
  const size = toField({
    oneOf: [
      { const: 1, title: 'Small' },
      { const: 2, title: 'Large' },
    ],
  });
  expect(size.shape).toMatchObject({
    kind: 'choice',
    options: [
      { text: 'Small', json: '1' },
      { text: 'Large', json: '2' },
    ],
  });
  const maybe = toField({ anyOf: [{ type: 'integer' }, { type: 'null' }] });
  expect(maybe).toMatchObject({ isNullable: true, shape: { kind: 'number', isInteger: true } });
  expect(toField({ type: ['string', 'null'], enum: ['a', null] }).shape).toMatchObject({ options: [{ text: 'a' }] });
});

test('an optional constant can be left out', () => {
  const optional = toField({ type: 'object', properties: { sure: { const: true } } });
  expect(readDraft(optional, toDraft(optional)).value).toEqual({});
  expect(readDraft(optional, { sure: 'true' }).value).toEqual({ sure: true });
});

test('typed text becomes a value: empty optional fields are left out, empty required ones may be null', () => {
  const draft = { ...(toDraft(field) as object), city: 'Tokyo', nights: ' 2 ', breakfast: 'false' };
  expect(readDraft(field, draft)).toEqual({
    value: { city: 'Tokyo', nights: 2, breakfast: false, note: null, currency: 'EUR' },
    problems: [],
  });
});

test('a value survives the form, with parts that the form does not show', () => {
  const value = {
    city: 'Tokyo\nShibuya',
    nights: 2,
    checkIn: '2026-12-24',
    breakfast: true,
    room: 'double',
    extras: ['parking'],
    guests: [{ name: 'Ada', age: 36, seat: '4A' }, { name: 'Ben' }],
    address: { street: 'Dogenzaka' },
    note: null,
    anything: { deep: [1] },
    currency: 'EUR',
    unknown: { kept: true },
  };
  expect(readDraft(field, toDraft(field, value))).toEqual({ value, problems: [] });
});

test('[S3] what was not edited keeps its value, also if that is empty', () => {
  const schema = {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      memo: { type: 'string' },
      note: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      ref: { type: ['string', 'null'] },
      meta: { type: 'object', properties: { a: { type: 'string' } } },
      lines: { type: 'array', items: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
    },
    required: ['amount', 'memo'],
  };
  const form = toField(schema);
  const before = { amount: 5, memo: '', note: '', tags: [], ref: null, meta: {}, lines: [{ text: '' }] };
  const draft = { ...(toDraft(form, before) as object), amount: '6' };
  expect(readDraft(form, draft, { before })).toEqual({ value: { ...before, amount: 6 }, problems: [] });
  // A field that is emptied is left out, and a required one is asked for.
  const filled = { amount: 5, memo: 'a', note: 'b' };
  const emptied = { ...(toDraft(form, filled) as object), memo: '', note: '' };
  expect(readDraft(form, emptied, { before: filled })).toEqual({
    value: { amount: 5 },
    problems: [{ path: 'memo', message: 'Fill this in.' }],
  });
});

test('[S3] an item of a list does not get the empty fields of one that was removed before it', () => {
  const line = { type: 'object', properties: { text: { type: 'string' }, note: { type: 'string' } } };
  const form = toField({ type: 'array', items: line });
  const before = [{ text: 'a', note: '' }, { text: 'b' }];
  const [, second] = toDraft(form, before) as readonly Draft[];
  expect(readDraft(form, [second ?? ''], { before })).toEqual({ value: [{ text: 'b' }], problems: [] });
});

test('[S7] problems are shown at their fields, and a field that cannot be read is not also reported as missing', async () => {
  const draft = {
    ...(toDraft(field) as object),
    nights: 'two',
    anything: '{',
    guests: [{ name: '', age: '' }],
    address: { street: '' },
  };
  const { value, problems } = readDraft(field, draft);
  expect(mergeProblems(problems, await checkValue(booking, value))).toEqual([
    { path: 'city', message: 'Fill this in.' },
    { path: 'nights', message: 'Write a whole number, e.g. 3.' },
    { path: 'guests[0].name', message: 'Fill this in.' },
    { path: 'anything', message: expect.stringContaining('not JSON') },
  ]);
});

test('[S7] values that the schema forbids are found before anything is sent, with their path', async () => {
  const problems = await checkValue(booking, { city: 'x', nights: 31, note: null, currency: 'EUR', guests: [{}] });
  expect(problems).toEqual([
    { path: 'nights', message: 'Expected at most 30, got number 31.' },
    { path: 'guests[0].name', message: 'Required, but missing.' },
  ]);
  expect(await checkValue({ type: 'nonsense' }, 1)).toEqual([]);
});

test('the form knows at which of its fields a problem can be shown', () => {
  const draft = { ...(toDraft(field) as object), guests: [{ name: 'Ada', age: '' }] };
  const paths = fieldPaths(field, draft);
  expect(paths.has('guests[0].age')).toBe(true);
  expect(paths.has('guests[1].age')).toBe(false);
  expect(paths.has('')).toBe(false);
});

test('paths of a request become paths of the form without the prefix of its container', () => {
  expect(
    withoutPrefix(
      [
        { path: 'input.city', message: 'a' },
        { path: 'input["odd key"]', message: 'b' },
        { path: 'inputs', message: 'c' },
      ],
      'input',
    ),
  ).toEqual([
    { path: 'city', message: 'a' },
    { path: '["odd key"]', message: 'b' },
    { path: '', message: 'c' },
  ]);
});

test('names are shown as words, and timestamps as local times', () => {
  expect(['check_in', 'checkIn', 'URL', 'guest-name', ''].map(readable)).toEqual([
    'Check in',
    'Check in',
    'URL',
    'Guest name',
    '',
  ]);
  const moment = '2026-03-01T10:20:30.000Z';
  expect(fromLocalTime(toLocalTime(moment))).toBe(moment);
  expect([toLocalTime('soon'), fromLocalTime('')]).toEqual(['', '']);
});
