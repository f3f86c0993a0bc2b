import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { chromePath } from './chrome-path.ts';

/** The tests see what users get: the built studio. It is built when a source is newer. */
export async function setup(): Promise<void> {
  const build = join(import.meta.dirname, '..', '..', 'scripts', 'build.ts');
  const building = once(spawn(process.execPath, [build, '--if-newer'], { stdio: 'inherit' }), 'exit');
  // It is unpacked when it is first asked for. A worker that asks while another still writes it would run the half of it.
  const [[code]] = await Promise.all([building, chromePath()]);
  if (code !== 0) throw new Error('The studio could not be built.');
}
