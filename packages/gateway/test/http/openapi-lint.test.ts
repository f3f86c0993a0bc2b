import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { openApi } from './api.ts';

/** Values that tools, people and other services define: any JSON. */
const FREE = new Set([
  'input',
  'tool_input',
  'output',
  'value',
  'result',
  'data',
  'details',
  'progress',
  'definition',
  'default',
  'askedInput',
  'Outcome.display',
  'Slice.state',
  'MachineInstance.state',
  'sample',
  'GrantCondition.equals',
  'GrantCondition.oneOf[]',
]);

describe('/openapi.json as read by tools', () => {
  const database = forAllTests(onSqlite.create);
  const api = forAllTests(() => openApi(database));
  const read = async () => (await api.call('GET', '/openapi.json', { secret: null })).body;

  test('/openapi.json passes the strict rules of a linter', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: { 'operation-tag-defined': 'error', 'tag-description': 'error', 'no-unused-components': 'error' },
    });
    const problems = await lintFromString({ source: JSON.stringify(await read()), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  test('every field of /openapi.json has a schema, except those whose content is defined by others', async () => {
    const { components } = await read();
    const bare = Object.entries(components.schemas).flatMap(([name, schema]) => fieldsWithoutSchema(schema, name));
    expect(bare.filter((path) => !FREE.has(path) && !FREE.has(path.split('.').at(-1) ?? ''))).toEqual([]);
  });
});

/** Paths of properties without a schema. */
function fieldsWithoutSchema(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema as Record<string, never>;
  const own = Object.entries<object>(properties).flatMap(([name, one]) => {
    const at = `${path}.${name}`;
    return saysNothing(one) ? [at] : fieldsWithoutSchema(one, at);
  });
  const parts = [...(items === undefined ? [] : [items]), ...anyOf, ...oneOf, ...allOf];
  return [...own, ...parts.flatMap((one) => (saysNothing(one) ? [`${path}[]`] : fieldsWithoutSchema(one, path)))];
}

function saysNothing(schema: object): boolean {
  return Object.keys(schema).every((key) => key === 'description');
}
