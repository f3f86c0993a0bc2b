import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const here = import.meta.dirname;
const names = readdirSync(here).filter((name) => existsSync(join(here, name, 'main.ts')));

// Each example is run as its reader would run it, in a process of its own, and says what its page in output.txt says.
test.each(names)('the example %s runs and says what it promises', async (name) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--conditions=@lastcall/source',
    join(here, name, 'main.ts'),
  ]);
  expect(stderr).toBe('');
  expect(stdout).toBe(readFileSync(join(here, name, 'output.txt'), 'utf8'));
});

test('there are examples to run', () => {
  expect(names).toContain('half-way');
});
