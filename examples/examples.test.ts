import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const here = import.meta.dirname;
// One that serves a page goes on until it is stopped, and has a test of its own.
const names = readdirSync(here).filter((name) => existsSync(join(here, name, 'output.txt')));

// With the key of a provider at hand an example would ask a real model.
const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, ...withoutKeys } = process.env;

// Each example is run as its reader would run it, in a process of its own, and says what its page in output.txt says.
test.each(names)('the example %s runs and says what it promises', async (name) => {
  const args = ['--conditions=@lastcall/source', join(here, name, 'main.ts')];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: withoutKeys });
  expect(stderr).toBe('');
  expect(stdout).toBe(readFileSync(join(here, name, 'output.txt'), 'utf8'));
});

test('there are examples to run', () => {
  expect(names).toContain('half-way');
});
