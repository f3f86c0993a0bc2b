import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const here = import.meta.dirname;
// An example that serves a page runs until it is stopped, and has its own test.
const names = readdirSync(here).filter((name) => existsSync(join(here, name, 'output.txt')));

// With a provider's key in the environment an example would ask a real model.
const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, ...withoutKeys } = process.env;

// Each example is run in a separate process, with the packages as they are published, and prints exactly its output.txt.
test.each(names)('the example %s runs and says what it promises', async (name) => {
  const program = join(here, name, 'main.ts');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { env: withoutKeys });
  expect(stderr).toBe('');
  expect(stdout).toBe(readFileSync(join(here, name, 'output.txt'), 'utf8'));
});

test('there are examples to run', () => {
  expect(names).toContain('half-way');
});
