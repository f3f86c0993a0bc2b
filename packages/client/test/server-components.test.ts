import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('[S10] a page of server components may import the hooks and cards: the published file says that they run in the browser', async () => {
  const published = fileURLToPath(new URL('../dist/react/index.js', import.meta.url));
  expect(await readFile(published, 'utf8')).toMatch(/^["']use client["'];/);
});
