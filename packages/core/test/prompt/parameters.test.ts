import { type } from 'arktype';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type SectionDefinition, section } from '../../src/contract/section.ts';
import { OptionsError, PromptRenderError } from '../../src/errors.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';

/** The text of a section, without its heading. */
function textOf<P>(rest: Omit<SectionDefinition<P>, 'key' | 'title'>, params?: Record<string, unknown>): string {
  const made = prompt({ ns: 'tests', key: 'p', sections: [section({ key: 'a', title: 'A', ...rest })] });
  return made.render(params === undefined ? {} : { params }).system.replace(/^## A(\n\n)?/, '');
}

test('placeholders are filled from the parameters, or with their defaults', () => {
  const greet = { template: 'Hello {{name}}, {{ name }}! {{count}}', params: { name: 'Ada', count: 2 } };
  expect(textOf(greet)).toBe('Hello Ada, Ada! 2');
  expect(textOf(greet, { name: 'Bo', other: true })).toBe('Hello Bo, Bo! 2');
  expect(textOf(greet, { name: undefined })).toBe('Hello Ada, Ada! 2');
});

test.each([
  ['zod', z.object({ name: z.string(), count: z.number().default(2) })],
  ['arktype', type({ name: 'string', count: 'number = 2' })],
  [
    'JSON Schema',
    {
      type: 'object',
      properties: { name: { type: 'string' }, count: { type: 'number', default: 2 } },
      required: ['name'],
    },
  ],
])('a schema made with %s provides names, defaults and checks', (_kind, params) => {
  const rest = { template: '{{name}}: {{count}}', params: params as never };
  expect(textOf(rest, { name: 'Ada' })).toBe('Ada: 2');
  expect(textOf(rest, { name: 'Ada', count: 5, elsewhere: 'ignored' })).toBe('Ada: 5');
  expect(() => textOf(rest)).toThrow(PromptRenderError);
  expect(() => textOf(rest, { name: 'Ada', count: 'five' })).toThrow(/"a".*count/);
});

test('a template function gets the parsed parameters of its section, or all of them if it declares none', () => {
  const params = z.object({ names: z.array(z.string()), count: z.number().default(2) });
  expect(
    textOf({ params, template: ({ names, count }) => names.join('+') + count.toFixed(1) }, { names: ['a', 'b'] }),
  ).toBe('a+b2.0');
  expect(textOf({ template: (given) => JSON.stringify(given) }, { x: 1 })).toBe('{"x":1}');
  const declared = { params: { x: 0 }, template: (given: object) => JSON.stringify(given) };
  expect(textOf(declared, { x: 1, y: 2 })).toBe('{"x":1}');
});

test('a parameter without a value is a render error that names it', () => {
  const optional = { template: '{{name}}', params: z.object({ name: z.string().optional() }) };
  expect(() => textOf(optional)).toThrow(/"a": parameter "name" has no value/);
  expect(() => textOf({ template: '{{name}}', params: { name: null } })).toThrow('"name" has no value');
});

test('an escaped placeholder is literal text, and braces that are not a placeholder stay', () => {
  expect(textOf({ template: 'Write \\{{name}} as it is: { {a} {{}} {{1}} {{a b}}' })).toBe(
    'Write {{name}} as it is: { {a} {{}} {{1}} {{a b}}',
  );
});

test('a value is never read as a placeholder or a pattern, whatever is in it', () => {
  const template = '<{{a}}|{{b}}>';
  expect(textOf({ template, params: { a: '', b: '' } }, { a: '{{b}}', b: '$& $1 \\{{' })).toBe('<{{b}}|$& $1 \\{{>');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (a, b) => {
      expect(textOf({ template, params: { a: '', b: '' } }, { a, b })).toBe(`<${a}|${b}>`);
    }),
  );
});

test('parameters named like inherited properties are ordinary parameters', () => {
  const params = JSON.parse('{"__proto__":"p","constructor":"c"}') as Record<string, unknown>;
  const template = '{{__proto__}} {{constructor}}';
  expect(textOf({ template, params })).toBe('p c');
  expect(textOf({ template, params }, JSON.parse('{"__proto__":"q"}'))).toBe('q c');
});

test('a schema that validates asynchronously is refused, saying so', () => {
  const params = z.object({ name: z.string().refine(async () => true) });
  expect(() => textOf({ template: '{{name}}', params }, { name: 'Ada' })).toThrow(/"a".*asynchronously/);
});

test('changing the inputs after the prompt was made or rendered has no effect', () => {
  const defaults = { name: 'Ada' };
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [section({ key: 'a', title: 'A', template: '{{name}}', params: defaults })],
  });
  defaults.name = 'Bo';
  expect(made.render().system).toBe('## A\n\nAda');
});

test('parameters that are not an object are refused', () => {
  for (const params of [null, 'x', ['x']])
    expect(() => textOf({ template: '' }, params as never)).toThrow(OptionsError);
});
