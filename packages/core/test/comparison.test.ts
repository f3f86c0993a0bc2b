import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const docs = join(import.meta.dirname, '../../../docs');
const read = (name: string): string => readFileSync(join(docs, name), 'utf8');

/** The rows of a table, each as its cells. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

/** The observations in a situation, by library name without version. */
function observedIn(anchor: string): ReadonlyMap<string, string> {
  const section = read('semantics.md')
    .split(/^## /m)
    .find((text) => toAnchor(text.split('\n')[0] ?? '') === anchor);
  return new Map(rowsOf(section ?? '').map(([library = '', seen = '']) => [library.split(' ')[0] ?? '', seen]));
}

/** The anchor of a heading, as GitHub makes it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

const [head = [], ...rows] = rowsOf(read('comparison.md'));

describe('the comparison', () => {
  test('compares with four libraries in at least seven situations', () => {
    expect(head).toHaveLength(6);
    expect(rows.length).toBeGreaterThanOrEqual(7);
  });

  test.each(rows.map((cells) => [cells[0] ?? '', cells] as const))('[S20] says of %s what happened', (link, cells) => {
    const [, anchor = ''] = /semantics\.md#([\w-]+)/.exec(link) ?? [];
    const observed = observedIn(anchor);
    expect(observed.size).toBeGreaterThanOrEqual(5);
    for (const [column, library] of head.entries())
      if (column > 0) expect(observed.get(library), library).toContain(cells[column]);
  });
});
