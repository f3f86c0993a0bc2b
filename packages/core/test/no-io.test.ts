import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');
/** Where the world may be touched: the ports' defaults, the door for Node, and the fake clock of the test kit. */
const exempt = ['defaults.ts', 'testing/fake-clock.ts'];
const forbidden =
  /from 'node:|\bprocess\.|\bMath\.random\b|\bDate\.now\b|\bnew Date\b|\bfetch\(|\bset(Timeout|Interval|Immediate)\(/;

// The linter denies the globals; this also finds the members it cannot name.
test('the core does no I/O: time, chance, files and the network come through ports', () => {
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
