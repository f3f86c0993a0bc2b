import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');
/** Files that may do I/O: the defaults of the ports, the entry point for Node, and the fake clock of the test kit. */
const exempt = ['defaults.ts', 'testing/fake-clock.ts'];
const forbidden =
  /from 'node:|\bprocess\.|\bMath\.random\b|\bDate\.now\b|\bnew Date\b|\bfetch\(|\bset(Timeout|Interval|Immediate)\(/;

// The linter forbids the globals; this test also finds members that the linter cannot name.
test('the core does no I/O: time, random numbers, files and the network come through ports', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('node') && !exempt.includes(name),
  );
  expect(files.length).toBeGreaterThan(100);
  const offenders = files.filter((name) => forbidden.test(withoutComments(readFileSync(join(source, name), 'utf8'))));
  expect(offenders.map((name) => relative('.', name))).toEqual([]);
});

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
}
