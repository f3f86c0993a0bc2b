import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const here = import.meta.dirname;
// An example that serves a page runs until it is stopped, and has its own test.
const programs = readdirSync(here).flatMap((name) =>
  [
    { name, program: 'main.ts', output: 'output.txt' },
    // The same as an agent of a gateway.
    { name: `${name}/agent`, program: 'agent.ts', output: 'agent-output.txt' },
  ].flatMap(({ name: shown, program, output }) =>
    existsSync(join(here, name, output))
      ? [{ name: shown, program: join(here, name, program), output: join(here, name, output) }]
      : [],
  ),
);

// With a provider's key in the environment an example would ask a real model.
const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, ...withoutKeys } = process.env;

// Each example is run in a separate process, with the packages as they are published, and prints exactly its output.
test.each(programs)('the example $name runs and prints its expected output', async ({ program, output }) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { env: withoutKeys });
  expect(stderr).toBe('');
  expect(stdout).toBe(readFileSync(output, 'utf8'));
});

test('there are examples to run', () => {
  expect(programs.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['half-way', 'card-duel/agent', 'plan/agent']),
  );
});
