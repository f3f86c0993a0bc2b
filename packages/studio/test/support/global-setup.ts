import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The tests see what users get: the built studio. It is built when a source is newer. */
export function setup(): void {
  const build = join(import.meta.dirname, '..', '..', 'scripts', 'build.ts');
  execFileSync(process.execPath, [build, '--if-newer'], { stdio: 'inherit' });
}
