import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STATUSES } from '../../src/transport/http/statuses.ts';

const source = join(import.meta.dirname, '../../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const [, section = ''] = readFileSync(join(import.meta.dirname, '../../../../docs/errors.md'), 'utf8').split(
  '## Over HTTP',
);
const documented = new Map(
  Array.from(section.matchAll(/^\| `(\w+)` \| (\d+) \|/gm), ([, code = '', status = '']) => [code, Number(status)]),
);

/** Every `new ApiError('code'`, over line breaks. */
function thrownIn(text: string): string[] {
  return Array.from(text.matchAll(/\bnew ApiError\(\s*'(\w+)'/g), ([, code = '']) => code);
}

test('docs/errors.md has exactly the codes of the gateway, with their statuses', () => {
  expect(documented.size).toBeGreaterThan(20);
  // Any other error is answered with 500: see error-answer.ts.
  expect(Object.fromEntries(documented)).toEqual({ ...STATUSES, internal: 500 });
});

test('every code is thrown somewhere', () => {
  const thrown = files.flatMap((name) => thrownIn(readFileSync(join(source, name), 'utf8')));
  expect(Object.keys(STATUSES).filter((code) => !thrown.includes(code))).toEqual([]);
});
