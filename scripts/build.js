// Runs before `npm pack` and `npm publish` in a package, also in a fresh clone: installs what is missing, makes the types and
// the bundles of the package, and removes from dist what no source makes any more.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './set-up.js';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = process.cwd();
const dist = join(folder, 'dist');

// Without its output, the record of the last build would say that there is nothing to do.
// The tests make bundles without types.
if (!existsSync(dist) || !readdirSync(dist).some((file) => file.endsWith('.d.ts')))
  rmSync(join(folder, 'tsconfig.tsbuildinfo'), { force: true });
for (const file of existsSync(dist) ? readdirSync(dist, { recursive: true, encoding: 'utf8' }) : []) {
  const source = file.replace(/\.d\.ts$/, '.ts');
  if (source !== file && !existsSync(join(folder, 'src', source))) rmSync(join(dist, file));
}
execFileSync(join(repository, 'node_modules', '.bin', 'tsc'), ['-b', folder], { stdio: 'inherit' });
// Imported here, because it needs what is installed above.
const { bundle } = await import('./bundle.js');
await bundle(folder);
