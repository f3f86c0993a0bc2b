import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

/** The gzipped size in bytes for a page that imports everything. */
async function sizeOf(entry: string): Promise<number> {
  const bundle = await rolldown({
    input: new URL(`../src/${entry}`, import.meta.url).pathname,
    external: ['react'],
    platform: 'browser',
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return gzipSync(output.map((one) => (one.type === 'chunk' ? one.code : '')).join('')).length;
}

test('[S10] the client takes 8 KB of a page at most, the hooks and cards 9 KB more, and the timeline 3 KB', async () => {
  const [client, hooks] = [await sizeOf('index.ts'), await sizeOf('react/index.ts')];
  expect(await sizeOf('timeline/index.ts')).toBeLessThanOrEqual(3 * 1_024);
  expect(client).toBeLessThanOrEqual(8 * 1_024);
  // The hooks import only types of the client.
  expect(hooks).toBeLessThanOrEqual(9 * 1_024);
});
