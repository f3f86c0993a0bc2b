import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTextField } from '../../src/runtime/run/text-field.ts';

/** Feeds every character alone, and returns the delta at each. */
const readSingly = (json: string): string[] => {
  const field = createTextField('text');
  return json.split('').map((unit) => field.push(unit));
};
const read = (json: string): string => readSingly(json).join('');

const unit = fc.oneof(
  fc.constantFrom('\ud83d', '\ude00', '😀', '"', '\\', '\n', '\u2028', '<', 'text', '{', '}', '\0', '/'),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const text = fc.array(unit, { maxLength: 12 }).map((units) => units.join(''));
const json = fc.oneof(text, fc.jsonValue());
const object = fc
  .tuple(
    fc.dictionary(fc.oneof(text, fc.constant('text')), json, { maxKeys: 3, noNullPrototype: true }),
    fc.option(fc.oneof({ arbitrary: text, weight: 5 }, { arbitrary: json, weight: 1 })),
    fc.dictionary(fc.constantFrom('a', 'nested', 'z'), fc.record({ text: json }), { noNullPrototype: true }),
  )
  .map(([before, value, after]) => ({ ...before, ...(value === null ? {} : { text: value }), ...after }));

/** The same JSON as another serializer would write it: with white space, and with unnecessary escapes. */
const written = fc
  .tuple(object, fc.constantFrom('', ' ', '\t', '\r\n '), fc.infiniteStream(fc.boolean()))
  .map(([value, space, coins]) => write(value, space, () => coins.next().value === true));

function write(value: unknown, space: string, isEscaped: () => boolean): string {
  const inner = (one: unknown): string => space + write(one, space, isEscaped) + space;
  if (typeof value === 'string')
    return `"${[...value].map((one) => (isEscaped() ? escapes(one) : plain(one))).join('')}"`;
  if (Array.isArray(value)) return `[${value.map(inner).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, one]) => `${inner(key)}:${inner(one)}`);
  return `{${fields.join(',')}}`;
}

function escapes(character: string): string {
  const units = character.split('').map((one) => one.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((hex) => `\\u${hex}`).join('');
}

function plain(character: string): string {
  return JSON.stringify(character).slice(1, -1);
}

function isJson(candidate: string): boolean {
  try {
    JSON.parse(candidate);
    return true;
  } catch {
    return false;
  }
}

const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 20 });

function fragmentsOf(whole: string, at: readonly number[]): string[] {
  const places = [0, ...at.filter((one) => one < whole.length).sort((a, b) => a - b), whole.length];
  return places.slice(1).map((end, index) => whole.slice(places[index], end));
}

// Many runs on a busy machine take longer than a test usually may.
const SLOW_MS = 60_000;

describe('a text out of JSON that is still being written', () => {
  test(
    '[G46] for any JSON and fragments, the deltas concatenate to the text',
    () => {
      fc.assert(
        fc.property(written, cuts, (whole, at) => {
          const field = createTextField('text');
          const given = fragmentsOf(whole, at).map((fragment) => field.push(fragment));
          const final: unknown = (JSON.parse(whole) as { text?: unknown }).text;
          expect(given.join('')).toBe(typeof final === 'string' ? final : '');
          if (typeof final === 'string') expect(field.end(final)).toBe(true);
          if (typeof final === 'string' && final.isWellFormed())
            for (const delta of given) expect(delta.isWellFormed()).toBe(true);
        }),
        { numRuns: 1_000 },
      );
    },
    SLOW_MS,
  );

  test(
    '[G46] the deltas do not depend on the fragments, also for broken JSON, and nothing throws',
    () => {
      const edit = fc.record({ at: fc.nat({ max: 60 }), by: fc.oneof(unit, fc.constant('')) });
      fc.assert(
        fc.property(written, edit, cuts, (sound, { at, by }, places) => {
          const whole = sound.slice(0, at) + by + sound.slice(at + 1);
          const field = createTextField('text');
          const given = fragmentsOf(whole, places)
            .map((fragment) => field.push(fragment))
            .join('');
          expect(given).toBe(read(whole));
          if (!isJson(whole)) return;
          // An edit may create a duplicate key, or a value that is not an object.
          const final = (JSON.parse(whole) as { text?: unknown } | null)?.text;
          expect(field.end(final)).toBe(given === final);
        }),
        { numRuns: 1_000 },
      );
    },
    SLOW_MS,
  );

  test('each character is emitted as soon as it arrives', () => {
    expect(readSingly('{"text":"hé!"}')).toEqual(['', '', '', '', '', '', '', '', '', 'h', 'é', '!', '', '']);
  });

  test('an escape is emitted when it is complete, and a surrogate pair when both halves are', () => {
    const field = createTextField('text');
    expect(field.push('{"text":"a\\')).toBe('a');
    expect(field.push('n\\u00')).toBe('\n');
    expect(field.push('e9\\ud83d')).toBe('é');
    expect(field.push('\\ude0')).toBe('');
    expect(field.push('0 \ud83d')).toBe('😀 ');
    expect(field.push('\ude00"}')).toBe('😀');
    expect(field.end('a\né😀 😀')).toBe(true);
  });

  test('a lone surrogate is emitted as by JSON.parse', () => {
    for (const value of ['\\ud83d', '\\ud83dx', '\\ud83d\\ud83d\\ude00', '\\ude00\\ud83d']) {
      const whole = `{"text":"${value}"}`;
      expect(read(whole)).toBe((JSON.parse(whole) as { text: string }).text);
    }
  });

  test('a text of a nested object or a list, or that is a key or a value elsewhere, is not emitted', () => {
    expect(read('{"a":{"text":"no"},"b":["text","no",{"text":"no"}],"c":"text","text":"yes","d":{"text":"no"}}')).toBe(
      'yes',
    );
    expect(read('[{"text":"no"}]')).toBe('');
    expect(read('["text","no"]')).toBe('');
    expect(read('"text"')).toBe('');
    expect(read('{"\\u0074ext":"yes"}')).toBe('yes');
  });

  test.each(['7', 'null', 'true', '["x"]', '{"text":"x"}'])('a text that is %s does not count as one', (value) => {
    const field = createTextField('text');
    expect(field.push(`{"text":${value}}`)).toBe('');
    expect(field.end(JSON.parse(value))).toBe(false);
  });

  test('if the key comes twice, the first is emitted, and the end says that another counts', () => {
    const field = createTextField('text');
    expect(field.push('{"text":"one","text":"two"}')).toBe('one');
    expect(field.end('two')).toBe(false);
    expect(read('{"text":1,"text":"two"}')).toBe('two');
  });

  test.each([
    ['{"a":tru,"text":"x"}', ''],
    ['{"a":01,"text":"x"}', ''],
    ['{"a" "b","text":"x"}', ''],
    ['{"a":1,,"text":"x"}', ''],
    ['{,"text":"x"}', ''],
    ['{"a":[1},"text":"x"}', ''],
    ['{"a":[1,],"text":"x"}', ''],
    ['{"a":{"b":},"text":"x"}', ''],
    ['{\'a\':1,"text":"x"}', ''],
    ['{text:"x"}', ''],
    ['x{"text":"x"}', ''],
    ['{}{"text":"x"}', ''],
    ['{"text":"a\nb"}', 'a'],
    ['{"text":"a\\xb"}', 'a'],
    ['{"text":"a\\u00g0b"}', 'a'],
    ['{"text":"a"} "b"', 'a'],
  ])('malformed JSON stops the deltas: %s', (whole, expected) => {
    expect(isJson(whole)).toBe(false);
    expect(read(whole)).toBe(expected);
  });

  test(
    'the cost of a deep input depends only on its length',
    () => {
      const depth = 200_000;
      expect(read(`{"a":${'['.repeat(depth)}${']'.repeat(depth)},"text":"x"}`)).toBe('x');
    },
    SLOW_MS,
  );
});
