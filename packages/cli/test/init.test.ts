import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from './support/folder.ts';
import { lastcall } from './support/program.ts';

test('[S15] init makes a folder, keeps what is there, and refuses to overwrite', async () => {
  await using made = await makeFolder({
    'package.json': JSON.stringify({ name: 'mine', type: 'commonjs', scripts: { lint: 'x' } }),
  });
  const options = { folder: made.path };
  expect(await lastcall(['init'], options)).toMatchObject({ code: 0, out: expect.stringContaining('npm install') });
  expect(JSON.parse(await readFile(join(made.path, 'package.json'), 'utf8'))).toMatchObject({
    ...{ name: 'mine', type: 'module' },
    scripts: { lint: 'x', start: 'lastcall start', dev: 'lastcall dev', test: 'node --test' },
  });
  expect((await stat(join(made.path, '.env'))).mode & 0o777).toBe(0o600);
  const again = await lastcall(['init'], options);
  expect(again).toMatchObject({
    code: 1,
    err: expect.stringMatching(/ has \S.*lastcall\.config\.ts.* already\. Choose another folder/),
  });
  const other = await lastcall(['init', 'deep/er', '--json'], options);
  expect(JSON.parse(other.out)).toMatchObject({
    folder: expect.stringMatching(/deep\/er$/),
    files: expect.arrayContaining(['.env', 'tools.ts']),
  });
  expect(await readdir(join(made.path, 'deep/er'))).toContain('lastcall.config.ts');
});
