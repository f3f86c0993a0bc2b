import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const transport = join(import.meta.dirname, '../../src/transport');

test('transport contains no SQL: it calls domain', () => {
  const files = readdirSync(transport, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(50);
  const statements = /\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql(<\w+>)?`/;
  expect(files.filter((name) => statements.test(readFileSync(join(transport, name), 'utf8')))).toEqual([]);
});
