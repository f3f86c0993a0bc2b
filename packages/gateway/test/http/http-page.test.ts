import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { openApi } from './api.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/http-api.md'), 'utf8');

/**
 * The operations that a row names: `GET /api/x/:id`, `PATCH` is two of one path, and `GET /api/x/:id`, `/y` has a second path below the
 * first one or beside it.
 */
function* operationsOf(row: string): Generator<string> {
  let path = '';
  let methods: string[] = [];
  let isUsed = false;
  for (const [, code = ''] of row.matchAll(/`([^`]+)`/g)) {
    const [, method, given] = /^([A-Z]+)? ?(\/[^ ?]*)?/.exec(code) ?? [];
    if (method !== undefined) methods = isUsed ? [method] : [...methods, method];
    isUsed = given !== undefined;
    const parent = path.slice(0, path.lastIndexOf('/'));
    const paths = given === undefined ? [path] : [given, parent + given, path + given];
    for (const one of methods) for (const named of paths) yield `${one} ${named.replace(/:(\w+)/g, '{$1}')}`;
    if (method !== undefined) path = given ?? path;
  }
}

const database = forAllTests(onSqlite.create);
const api = forAllTests(() => openApi(database));

test('docs/http-api.md names every operation of /openapi.json', async () => {
  const { paths } = (await api.call('GET', '/openapi.json', { secret: null })).body as { paths: object };
  const offered = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const named = new Set(rows.flatMap((row) => [...operationsOf(row)]));
  expect(offered.length).toBeGreaterThan(100);
  expect(offered.filter((operation) => !named.has(operation))).toEqual([]);
});
