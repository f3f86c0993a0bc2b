// `npm run example <name>` runs one program of examples/; without a name it lists them. `<name>/agent` is the same example as an agent of a
// gateway.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const examples = join(dirname(dirname(fileURLToPath(import.meta.url))), 'examples');
const programs = new Map(
  readdirSync(examples).flatMap((name) => [
    [name, join(examples, name, 'main.ts')],
    [`${name}/agent`, join(examples, name, 'agent.ts')],
  ]),
);
const names = [...programs].flatMap(([name, program]) => (existsSync(program) ? [name] : []));
const [name, ...rest] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`There is no example "${name}".`);
  console.error(`Usage: npm run example <name>\n${names.map((one) => `  ${one}`).join('\n')}`);
  process.exit(name === undefined ? 0 : 1);
}
const run = spawnSync(process.execPath, ['--conditions=@lastcall/source', programs.get(name), ...rest], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
