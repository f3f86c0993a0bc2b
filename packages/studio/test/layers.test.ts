import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Files of the studio that each import one other file. */
const REFUSED = [
  ['pages/run/page-to-page.ts', '../agent/status-mark.ts'],
  ['pages/run/page-to-folder-of-page.ts', '../agent/config/field.ts'],
  ['pages/run/page-by-long-path.ts', '../../pages/agent/field.ts'],
  ['pages/agent/config/nested-to-page.ts', '../../run/run-page.ts'],
  ['pages/run/page-to-app.ts', '../../app/router.ts'],
  ['parts/ui/part-to-page.ts', '../../pages/run/run-page.ts'],
  ['parts/run/part-to-page.ts', '../../pages/run/run-page.ts'],
  ['data/data-to-part.ts', '../parts/ui/button.ts'],
  ['data/data-to-page.ts', '../pages/run/run-page.ts'],
] as const;

const ALLOWED = [
  ['app/app-to-page.ts', '../pages/run/run-page.ts'],
  ['pages/run/page-to-part.ts', '../../parts/ui/button.ts'],
  ['pages/run/page-to-data.ts', '../../data/runs.ts'],
  ['pages/run/page-to-itself.ts', './run-header.ts'],
  ['pages/agent/config/nested-to-its-page.ts', '../overview-tab.ts'],
  ['pages/agent/config/nested-to-part.ts', '../../../parts/ui/button.ts'],
  ['parts/run/part-to-data.ts', '../../data/runs.ts'],
] as const;

test('[S29] lint refuses a page that imports another page, and every import against the layers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'layers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(join(ROOT, 'biome.json'), join(folder, 'biome.json'));
  for (const [path, imported] of [...REFUSED, ...ALLOWED]) {
    const file = join(folder, 'packages/studio/src', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `import { imported } from '${imported}';\n\nexport const used = imported;\n`);
  }

  expect(await filesWithRefusedImports(folder)).toEqual(REFUSED.map(([path]) => path).sort());
});

test('[S29] the studio keeps its layers', async () => {
  expect(await filesWithRefusedImports(ROOT)).toEqual([]);
});

/** The paths of files in which lint refuses an import, sorted. */
async function filesWithRefusedImports(folder: string): Promise<readonly string[]> {
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const options = [
    '--only=style/noRestrictedImports',
    '--reporter=json',
    '--vcs-enabled=false',
    '--max-diagnostics=none',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [biome, 'lint', ...options, 'packages/studio/src'], {
    cwd: folder,
  }).catch((error: { readonly stdout: string }) => error);
  const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly { location: { path: unknown } }[] };
  const paths = diagnostics.map(({ location }) => JSON.stringify(location.path));
  return [...new Set(paths.map((path) => /packages\/studio\/src\/([^"]+)/.exec(path)?.[1] ?? path))].sort();
}
