// `npm run pictures` draws the pictures of the documentation anew: the test that opens every page writes them.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = join(repository, 'node_modules', 'vitest', 'vitest.mjs');
const run = spawnSync(
  process.execPath,
  [vitest, 'run', '--project', 'studio', 'packages/studio/test/pictures.test.ts'],
  {
    cwd: repository,
    stdio: 'inherit',
    env: { ...process.env, LASTCALL_PICTURES: '1' },
  },
);
process.exit(run.status ?? 1);
