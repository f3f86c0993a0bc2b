// Builds the studio when a source is newer: before `npm start`, and before `npm pack` in its package. In plain JavaScript, because an
// old Node may run it; the build itself needs the repository's Node, which is found only by a shell that starts after the installation.
import { execSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './set-up.js';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const programs = join(repository, 'node_modules', '.bin');
execSync('node packages/studio/scripts/build.ts --if-newer', {
  cwd: repository,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` },
});
