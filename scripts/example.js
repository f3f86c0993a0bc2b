// `npm run example <name>` runs one program of examples/; without a name it lists them.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const examples = join(dirname(dirname(fileURLToPath(import.meta.url))), 'examples');
const names = readdirSync(examples).filter((name) => existsSync(join(examples, name, 'main.ts')));
const [name, ...rest] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`There is no example "${name}".`);
  console.error(`Usage: npm run example <name>\n${names.map((one) => `  ${one}`).join('\n')}`);
  process.exit(name === undefined ? 0 : 1);
}
const run = spawnSync(process.execPath, ['--conditions=@lastcall/source', join(examples, name, 'main.ts'), ...rest], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
