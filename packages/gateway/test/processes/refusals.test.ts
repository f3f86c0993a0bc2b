import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { doDuties } from './answering.ts';
import { openSite } from './site.ts';

vi.setConfig({ testTimeout: 120_000 });

test('a second gateway on one SQLite file is refused, with the ways out, and the first one goes on', async () => {
  await using site = await openSite({ decide: doDuties });
  const first = await site.start('a');
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toMatch(/^Another gateway uses the database in ".lastcall"/);
  expect(output).toContain('LASTCALL_HOME');
  expect(output).toContain('DATABASE_URL');
  expect(output).not.toContain('    at ');
  expect(first.isRunning).toBe(true);
});

test('a configuration that cannot work ends the start, with its file, the path in it and what to do', async () => {
  const config = `export default { agents: [{ name: 'Anna', instruction: '' }], limits: { hopLimit: 0 } };`;
  await using site = await openSite({ decide: doDuties, config });
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toContain(`${join(site.folder, 'lastcall.config.ts')}: agents[0].instruction is unknown. Remove it`);
  expect(output).toContain(`${join(site.folder, 'lastcall.config.ts')}: limits.hopLimit must be 1 or more`);
  expect(output).not.toContain('    at ');
});

test('a configuration that cannot be loaded ends the start, with its file and the reason', async () => {
  await using site = await openSite({ decide: doDuties, config: 'export default {' });
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toContain(`${join(site.folder, 'lastcall.config.ts')}`);
  expect(output).toContain('cannot be loaded');
});
