import { describe, expect, test } from 'vitest';
import { readLenientJson } from '../../src/runtime/middleware/lenient-json.ts';

describe('almost JSON', () => {
  test.each([
    ['JSON itself', '{"a":[1,-2.5e3,true,null,"x\\u00e9\\n"],"b":{}}', { a: [1, -2500, true, null, 'xé\n'], b: {} }],
    ['trailing commas', '{"a":[1,2,],"b":3,}', { a: [1, 2], b: 3 }],
    ['single quotes', "{'a': 'it\\'s \"so\"'}", { a: 'it\'s "so"' }],
    ['keys without quotes', '{amount: 12, $b_1: "x"}', { amount: 12, $b_1: 'x' }],
    ["Python's words", "{'a': True, 'b': False, 'c': None}", { a: true, b: false, c: null }],
    ['comments', '{/* how much */ "a": 1, // euro\n "b": 2}', { a: 1, b: 2 }],
    ['a line break inside a text', '{"a":"one\ntwo"}', { a: 'one\ntwo' }],
    ['a Markdown fence', '```json\n{"a":1}\n```', { a: 1 }],
    ['JSON inside a JSON text', '"{\\"a\\":1}"', { a: 1 }],
    ['a prototype', '{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
  ])('[X22] %s is read as meant', (_what, text, value) => {
    expect(readLenientJson(text)).toEqual({ value });
  });

  test.each([
    '{"a":1}}',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":word}',
    '{"a":Infinity}',
    '{"a":012}',
    'The amount is 12.',
    '{"a":"\\u00zz"}',
    `${'['.repeat(200)}${']'.repeat(200)}`,
  ])('[X22] %s is malformed, and nothing is guessed', (text) => {
    expect(readLenientJson(text)).toEqual({ problem: 'malformed' });
  });

  test.each([
    '{"amount":1200,"to":{"name":"Ann","ids":[1,2,3]},"note":"for \\"it\\" \\u00e9"}',
    "{amount: 1200, to: {name: 'Ann', ok: True}, /* c */ ids: [1, 2,],}",
    '```json\n{"amount":1200,"list":["a","b"]}\n```',
    '"{\\"amount\\":1200}"',
  ])('[X22] no prefix of %s is read as if it were complete', (text) => {
    expect(readLenientJson(text)).toHaveProperty('value');
    const whole = text.trimEnd().length;
    for (let length = 0; length < whole; length++)
      expect([length, readLenientJson(text.slice(0, length))]).toEqual([
        length,
        { problem: expect.stringMatching(/^(cut-off|malformed)$/) },
      ]);
  });

  test('the time to read a long text grows linearly with its length', () => {
    const startedAt = performance.now();
    for (const filler of [' ', '\n', '/*', '//', '{', '"', "'", '\\', '`'])
      for (const text of [
        filler.repeat(200_000),
        `\`\`\`\n${filler.repeat(200_000)}`,
        `{"a":1}${filler.repeat(200_000)}`,
      ])
        readLenientJson(text);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('[X22] arguments that end too early are known to be cut off', () => {
    for (const text of ['{"amount":12', '{"amount":', '{"to":"An', '{"a":[1,', '{"a":tr', '{', ''])
      expect([text, readLenientJson(text)]).toEqual([text, { problem: 'cut-off' }]);
  });
});
