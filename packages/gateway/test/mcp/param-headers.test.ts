import { expect, test } from 'vitest';
import { paramHeaderProblem } from '../../src/runtime/tools/mcp/param-headers.ts';

const header = (name: unknown, type = 'string') => ({ type, 'x-mcp-header': name });
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

test.each([
  ['none', object({ a: { type: 'string' } })],
  ['a plain value', object({ a: header('Region') })],
  ['plain values at any depth', object({ a: object({ b: header('Region'), c: header('Count', 'integer') }) })],
])('arguments that are sent as headers can be used: %s', (_what, schema) => {
  expect(paramHeaderProblem(schema)).toBeUndefined();
});

test.each([
  ['at the root', { ...object({}), 'x-mcp-header': 'Region' }],
  ['no name', object({ a: header('') })],
  ['a name with a line break', object({ a: header('Region\r\nCookie') })],
  ['no plain value', object({ a: { ...object({}), 'x-mcp-header': 'Region' } })],
  ['the same name twice', object({ a: header('Region'), b: header('region') })],
  ['inside a list', object({ a: { type: 'array', items: object({ b: header('Region') }) } })],
  ['in an alternative', object({}, { anyOf: [object({ b: header('Region') })] })],
])(
  'a tool whose arguments are declared as headers in a way that no client may send is left out: %s',
  (_what, schema) => {
    expect(paramHeaderProblem(schema)).toContain('x-mcp-header');
  },
);
