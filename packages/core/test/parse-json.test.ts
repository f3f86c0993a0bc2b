import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../src/parse-json.ts';

/** Objects whose second name has a backslash. V8 then misreads names with escapes in objects that start with the same names. */
const POISON = ['{"a":1,"\\\\":2}', '{"a":1,"\\\\u":2}', '{"a":1,"\\\\n":2}', '{"a":1,"x\\\\":2}', '{"":1,"\\\\":2}'];
const kept: unknown[] = [];

beforeAll(() => {
  for (const text of POISON) kept.push(JSON.parse(text));
});

const namesOf = (value: unknown): string[] => Object.keys(value as object);

describe('a name with an escape', () => {
  test.each([
    ['"\\n"', '\n'],
    ['"\\""', '"'],
    ['"\\\\"', '\\'],
    ['"\\u003c"', '<'],
    ['"\\u0041\\u0042"', 'AB'],
    ['"x\\t"', 'x\t'],
    ['"\\ud83d\\ude00"', '😀'],
  ])('%s is read as written', (written, name) => {
    const value = parseJson(`{"a":1,${written} : 2,"z":{"a":1,${written}:[{"a":1,${written}:3}]}}`);
    expect(namesOf(value)).toEqual(['a', name, 'z']);
    expect(value).toEqual({ a: 1, [name]: 2, z: { a: 1, [name]: [{ a: 1, [name]: 3 }] } });
  });

  test('the name of a prototype property is an ordinary field', () => {
    const value = parseJson('{"a":1,"\\u005f_proto__":{"b":2}}');
    expect(namesOf(value)).toEqual(['a', '__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('the last of two equal names counts', () => {
    expect(parseJson('{"\\n":1,"a":2,"\\u000a":3}')).toEqual({ '\n': 3, a: 2 });
  });

  test.each([
    ['{"a":1,"\\u0061":2,"a":3}', { a: 3 }],
    ['{"\\u0061":1,"a":2,"\\u0061":3,"b":4}', { a: 3, b: 4 }],
    ['{"a":1,"\\n":2,"\\u0061":3}', { a: 3, '\n': 2 }],
  ])('%s: the last of equal names counts, however each is written', (text, value) => {
    expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(value));
  });

  test('a name that equals a mark and is written with an escape is not mistaken for a mark', () => {
    const text = '{"\\u006eame0x0":1,"\\n":2,"\\u006eame0x1":3}';
    expect(parseJson(text)).toEqual({ name0x0: 1, '\n': 2, name0x1: 3 });
  });

  test('a text full of marks, which a caller may send, does not make the names long', () => {
    const fields = Array.from({ length: 20_000 }, (_, index) => `"\\n${index}":0`);
    const text = `{"v":"${'name'.repeat(50_000)}","w":"${'name0x name1x'.repeat(10_000)}",${fields.join(',')}}`;
    const value = parseJson(text) as Record<string, unknown>;
    expect(namesOf(value)).toHaveLength(20_002);
    expect(value['\n19999']).toBe(0);
  });

  test('a text that contains marks is read as written', () => {
    const value = { name0: 1, namename: ['name'], '\n': 'name0', 'name\t': 'x' };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });
});

test('with any names and texts, a value that was written is read back', () => {
  const part = fc.constantFrom('\\', '"', '\n', ':', '":', 'u', 'n', 'a', 'x', '{', 'name0', 'name0x', '\u2028');
  const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map((fields) => Object.fromEntries(fields)),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (one, indent) => {
      const written = JSON.stringify(one, null, indent);
      // toEqual alone would also pass if both were misread in the same way.
      expect(JSON.stringify(parseJson(written), null, indent)).toBe(written);
    }),
    { numRuns: 2_000 },
  );
});

test.each(['{"a\\":1}', '{"\\', '"\\"', '{"\\x":1}', '', '\\":'])('%j is refused as JSON.parse refuses it', (text) => {
  const refusal = (parse: (one: string) => unknown): unknown => {
    try {
      return parse(text);
    } catch (error) {
      return error;
    }
  };
  const refused = refusal(parseJson);
  expect(refused).toBeInstanceOf(SyntaxError);
  expect(String(refused)).toBe(String(refusal(JSON.parse)));
});
