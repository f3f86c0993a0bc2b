import { jsonSchema } from '@lastcall/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exampleInput } from '../../src/models/rehearsal/example-input.ts';

const hints = { text: 'What is the weather in New York today?', now: Date.UTC(2026, 0, 2) };

type Schema = Record<string, unknown>;

const bounds = (least: string, most: string, max: number): fc.Arbitrary<Schema> =>
  fc.tuple(fc.option(fc.nat({ max })), fc.option(fc.nat({ max }))).map(([low, more]) => ({
    ...(low === null ? {} : { [least]: low }),
    ...(more === null ? {} : { [most]: (low ?? 0) + more }),
  }));

const number = (type: 'number' | 'integer'): fc.Arbitrary<Schema> =>
  fc.oneof(
    fc.record({ type: fc.constant(type), minimum: fc.integer({ min: -50, max: 50 }) }),
    fc.record({ type: fc.constant(type), maximum: fc.integer({ min: -50, max: 50 }) }),
    fc.record({ type: fc.constant(type), exclusiveMinimum: fc.integer({ min: -50, max: 50 }) }),
    fc.record({ type: fc.constant(type), exclusiveMaximum: fc.integer({ min: -50, max: 50 }) }),
    fc.record({
      type: fc.constant(type),
      multipleOf: fc.integer({ min: 1, max: 9 }),
      minimum: fc.integer({ min: -9, max: 99 }),
    }),
  );

const { schema } = fc.letrec<{ schema: Schema; object: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    bounds('minLength', 'maxLength', 60).map((length) => ({ type: 'string', ...length })),
    fc
      .constantFrom('date', 'date-time', 'email', 'uri', 'uuid', 'ipv4', 'hostname')
      .map((format) => ({ type: 'string', format })),
    fc
      .constantFrom('^[a-z]+$', '^\\d+$', '^[A-Z]{1,2}-\\d+$', '^#[0-9a-f]{6}$')
      .map((pattern) => ({ type: 'string', pattern })),
    number('number'),
    number('integer'),
    fc.constantFrom<Schema>({ type: 'boolean' }, { type: 'null' }, { type: ['null', 'integer'] }, { const: 7 }, {}),
    fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
    fc
      .tuple(tie('schema'), bounds('minItems', 'maxItems', 3))
      .map(([items, length]) => ({ type: 'array', items, ...length })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({ anyOf: [one, other] })),
    tie('object'),
  ),
  object: fc
    .tuple(
      fc.dictionary(fc.constantFrom('city', 'note', 'count', 'when'), tie('schema')),
      fc.infiniteStream(fc.boolean()),
    )
    .map(([properties, coins]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter(() => coins.next().value === true),
      additionalProperties: false,
    })),
}));

const inObject = schema.map((one) => ({ type: 'object', properties: { one }, required: ['one'] }));

const problems = (document: Schema, value: unknown): unknown => {
  const result = jsonSchema(document)['~standard'].validate(value);
  return result instanceof Promise ? 'a promise' : result.issues;
};

// Many runs on a busy machine take longer than a test usually may.
const SLOW_MS = 60_000;

describe('arguments made from a schema', () => {
  test(
    'they fit any schema',
    () => {
      fc.assert(
        fc.property(inObject, fc.string(), (document, text) => {
          expect(problems(document, exampleInput(document, { ...hints, text }))).toBeUndefined();
        }),
        { numRuns: 1_000 },
      );
    },
    SLOW_MS,
  );

  test('a place is used for a field that wants a place, and the whole sentence only for prose', () => {
    const document = {
      type: 'object',
      properties: { city: { type: 'string' }, question: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
      required: ['city', 'question', 'days'],
    };
    expect(exampleInput(document, hints)).toEqual({ city: 'New York', question: hints.text, days: 2 });
  });

  test.each([
    ['Book a room in Rome for 3 nights, guest Ada Byron.', { city: 'Rome', nights: 3, guest: 'Ada Byron' }],
    ['Please book a suite in Oslo', { city: 'Oslo', room: 'suite', nights: 1 }],
    ['book "The Inn" in york, nights: 2', { city: 'The Inn', nights: 2 }],
    ['a hotel in york please', { city: 'york', nights: 1 }],
    ['Nothing', { city: 'nothing', nights: 1 }],
    ['', { city: 'example', nights: 1 }],
  ])('from %j the words for each field are used', (text, expected) => {
    const document = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        nights: { type: 'integer', minimum: 1 },
        guest: { type: 'string' },
        room: { enum: ['single', 'suite'] },
      },
      required: ['city', 'nights'],
    };
    expect(exampleInput(document, { ...hints, text, toolName: 'book_hotel' })).toEqual(expected);
  });

  test('a field between two names takes the one next to it', () => {
    const properties = { from: { type: 'string' }, to: { type: 'string' }, day: { type: 'string', format: 'date' } };
    const document = { type: 'object', properties, required: ['from', 'to', 'day'] };
    const value = exampleInput(document, { ...hints, text: 'Fly from Paris to New York on 2026-03-04' });
    expect(value).toEqual({ from: 'Paris', to: 'New York', day: '2026-03-04' });
  });

  test('where nothing is required and nothing is named, all fields are given', () => {
    const document = { type: 'object', properties: { location: { type: 'string' }, unit: { enum: ['c', 'f'] } } };
    expect(exampleInput(document, hints)).toEqual({ location: 'New York', unit: 'c' });
  });

  test('a word that does not fit is left out', () => {
    const document = {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 2, pattern: '^[a-z]+$' } },
      required: ['city'],
    };
    expect(exampleInput(document, hints)).toEqual({ city: 'ex' });
  });

  test('references, unions and joined parts are followed', () => {
    const document = {
      $defs: { place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
      type: 'object',
      properties: {
        place: { $ref: '#/$defs/place' },
        maybe: { anyOf: [{ type: 'null' }, { enum: ['x'] }, { enum: ['y'] }] },
        both: { allOf: [{ $ref: '#/$defs/place' }, { properties: { n: { type: 'integer' } }, required: ['n'] }] },
      },
      required: ['place', 'maybe', 'both'],
    };
    const value = exampleInput(document, hints);
    expect(value).toEqual({ place: { city: 'New York' }, maybe: 'x', both: { city: 'New York', n: 1 } });
    expect(problems(document, value)).toBeUndefined();
  });

  test('a schema that contains itself, or is not a schema, does not loop', () => {
    const endless = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
    expect(exampleInput(endless, hints)).toHaveProperty('next.next.next');
    expect(exampleInput({ $ref: '#' }, hints)).toEqual({});
    for (const none of [undefined, null, true, 'x', []]) expect(exampleInput(none, hints)).toEqual({});
  });
});
