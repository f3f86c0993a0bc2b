import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, freePort, toRun, toScript } from './install/tutorial.ts';
import { makeFolder } from './support/folder.ts';
import { BIN, Program } from './support/program.ts';

const repository = join(import.meta.dirname, '../../..');

/** Runs the page in one bash, as a reader does, with the packages of the repository instead of those of a registry. */
test('[E1] [E6] [E7] [E8] the commands of change-a-prompt.md do what it says, from a bad run to a saved version', async () => {
  await using folder = await makeFolder();
  await symlink(join(repository, 'node_modules'), join(folder.path, 'installed'));
  const port = await freePort();
  const blocks = blocksOf(await readFile(join(repository, 'docs/change-a-prompt.md'), 'utf8'));
  const script = blocks
    .map(toScript)
    .join('\n')
    .replaceAll('127.0.0.1:4100', `127.0.0.1:${port}`)
    .replaceAll('npx lastcall', `"${process.execPath}" "${BIN}"`)
    .replace(/^(\{ mkdir desk\ncd desk\n)/m, '$1ln -s ../installed node_modules\n');
  await writeFile(join(folder.path, 'page.sh'), script);
  await using program = new Program(['bash', 'page.sh'], { folder: folder.path, env: { PORT: String(port) } });
  const { out, err } = await program.ended;
  const runs = blocks.flatMap((block, index) =>
    block.kind === 'sh' ? [toRun(block.text, { blocks, index, out })] : [],
  );
  expect(runs.length).toBeGreaterThan(8);
  for (const { commands, exitCode, printed, promised } of runs) {
    for (const line of promised) expect(printed, `${commands}\n${err}`).toContain(line);
    expect({ commands, exitCode, printed }).toMatchObject({ exitCode: 0 });
  }
});
