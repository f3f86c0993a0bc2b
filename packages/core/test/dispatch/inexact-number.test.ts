import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inexactNumber } from '../../src/dispatch/inexact-number.ts';
import { runTurn, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

test.each([
  ['12345678901234567890', '12345678901234567890'],
  ['{"a":[1,{"b":-9007199254740993}]}', '-9007199254740993'],
  ['{"a":"x\\\\","b":9007199254740993}', '9007199254740993'],
  ['{"amount":1e999}', '1e999'],
  ['{"a":9007199254740992,"b":10000000000000000000000}', undefined],
  ['{"a":6.02e23,"b":0.1234567890123456789,"c":-1E-400}', undefined],
  ['{"a":"12345678901234567890","b":"\\"9007199254740993"}', undefined],
  ['{"1234567890123456789":1}', undefined],
  ['{"a":"not closed 12345678901234567890', undefined],
])('[T19] [G54] in %s, the first number that cannot be read exactly is %s', (text, number) => {
  expect(inexactNumber(text)).toBe(number);
});

test('[T19] every integer is found that JSON.parse changes, and no other', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.string(), (integer, text) => {
      const json = `{${JSON.stringify(text)}:${JSON.stringify(text)},"n":${integer}}`;
      const isKept = BigInt((JSON.parse(json) as { n: number }).n) === integer;
      expect(inexactNumber(json)).toBe(isKept ? undefined : String(integer));
    }),
  );
});

test('[T19] a tool does not run with another number than the model wrote', async () => {
  const paid: unknown[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ account: z.union([z.number(), z.string()]) }),
    execute: ({ account }) => paid.push(account),
  });
  const model = scriptedModel([
    { toolName: 'pay', input: '{"account":12345678901234567890}' },
    { toolName: 'pay', input: '{"account":"12345678901234567890"}' },
    'Done.',
  ]);
  const { settlements } = await runTurn({ model, prompt: 'Go.', tools: { pay } });
  expect(paid).toEqual(['12345678901234567890']);
  expect(settlements[0]?.outcome).toMatchObject({
    status: 'error',
    code: 'invalid_input',
    text: expect.stringContaining('12345678901234567890 is too large a number to be read exactly. Write it as text'),
  });
});
