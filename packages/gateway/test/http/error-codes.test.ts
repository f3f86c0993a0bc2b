import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const [, section = ''] = readFileSync(join(import.meta.dirname, '../../../../docs/errors.md'), 'utf8').split(
  '## Over HTTP',
);
const documented = new Map(
  Array.from(section.matchAll(/^\| `(\w+)` \| (\d+) \|/gm), ([, code = '', status = '']) => [code, Number(status)]),
);

/** Every `new ApiError(status, 'code'`, over line breaks. */
function thrownIn(text: string): [code: string, status: number][] {
  return Array.from(text.matchAll(/\bnew ApiError\(\s*(\d+),\s*'(\w+)'/g), ([, status, code = '']) => [
    code,
    Number(status),
  ]);
}

test('every code that the gateway answers with is in docs/errors.md, with its status, and no other', () => {
  const texts = files.map((name) => readFileSync(join(source, name), 'utf8'));
  const thrown = new Map(texts.flatMap(thrownIn));
  // Answered where what was thrown is no ApiError: see error-answer.ts.
  thrown.set('internal', 500).set('store_unavailable', 503);
  expect(documented.size).toBeGreaterThan(20);
  expect(Object.fromEntries([...documented].sort())).toEqual(Object.fromEntries([...thrown].sort()));
});

test('no code has two statuses, and each is written where it is thrown', () => {
  const byCode = new Map<string, Set<number>>();
  for (const name of files) {
    const text = readFileSync(join(source, name), 'utf8');
    for (const [code, status] of thrownIn(text)) byCode.set(code, (byCode.get(code) ?? new Set()).add(status));
    const all = text.match(/\bnew ApiError\(/g)?.length ?? 0;
    // What cannot be read here cannot be documented. error-answer.ts passes on the code of another error.
    if (name !== join('transport', 'http', 'error-answer.ts'))
      expect([name, thrownIn(text).length]).toEqual([name, all]);
  }
  for (const [code, statuses] of byCode) expect([code, statuses.size]).toEqual([code, 1]);
});
