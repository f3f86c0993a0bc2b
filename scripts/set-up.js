// Runs before `npm start`, `npm test`, … in plain JavaScript, because it may run on an old Node before anything is installed.
// It brings node_modules up to the lock file, and does nothing when they already agree. A folder with a lock file of its
// own may be named: `node scripts/set-up.js bench/peers`.
import { execSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const root = join(repository, process.argv[2] ?? '.');
const stamp = join(root, 'node_modules', '.set-up');
// Native parts are built for the Node that runs the installation. It must be the repository's, which will load them, and not
// an old one that happens to be in the path.
const programs = join(repository, 'node_modules', '.bin');
const node = existsSync(join(programs, 'node')) && root !== repository ? nodeVersion() : '';
// The lock file's content and the platform, not its time: a fresh clone gives every file a new time.
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}${node}`)
  .digest('hex');

function nodeVersion() {
  return JSON.parse(readFileSync(join(repository, 'node_modules', 'node', 'package.json'), 'utf8')).version;
}

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.log('Installing dependencies (once, until package-lock.json changes) …');
  // Not `npm ci`: it refuses a lock file in which an optional package of another platform is missing, and some registries do
  // not serve those. Without saving, `npm install` takes the versions of the lock file and leaves the file as it is.
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` };
  execSync('npm install --no-save --no-audit --no-fund --loglevel=error', { cwd: root, stdio: 'inherit', env });
  writeFileSync(stamp, wanted);
}
