import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, inject, test } from 'vitest';
import { doDuties } from './answering.ts';
import { CONFIG_FILE, openSite } from './site.ts';

test('[S18] a start is refused on a SQLite file that another gateway uses, with the ways out, and on one that a newer version has used', async () => {
  await using site = await openSite({ decide: doDuties });
  const first = await site.start('a');
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toMatch(/^Another gateway uses the database in ".lastcall"/);
  expect(output).toContain('LASTCALL_HOME');
  expect(output).toContain('DATABASE_URL');
  expect(output).not.toContain('    at ');
  // The other gateway continues.
  expect(first.isRunning).toBe(true);

  await first.kill();
  const database = new DatabaseSync(join(site.folder, '.lastcall', 'lastcall.db'));
  database.exec("insert into kysely_migration (name, timestamp) values ('9999-to-come', '2099-01-01')");
  database.close();
  const later = await site.runToEnd();
  expect(later.output).toMatch(
    /^A newer version of Lastcall has used this database \(migration 9999-to-come\)\. Install that version[^\n]*\n$/,
  );
  expect(later.code).toBe(1);
});

test('a configuration that cannot work ends the start, with its file, the path in it and what to do', async () => {
  const config = `export default { agents: [{ name: 'Anna', instruction: '' }], limits: { hopLimit: 0 } };`;
  await using site = await openSite({ decide: doDuties, config });
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toContain(`${join(site.folder, CONFIG_FILE)}: agents[0].instruction is unknown. Remove it`);
  expect(output).toContain(`${join(site.folder, CONFIG_FILE)}: limits.hopLimit must be 1 or more`);
  expect(output).not.toContain('    at ');
});

test('a configuration that cannot be loaded ends the start, with its file and the reason', async () => {
  await using site = await openSite({ decide: doDuties, config: 'export default {' });
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toContain(`${join(site.folder, CONFIG_FILE)}`);
  expect(output).toContain('cannot be loaded');
});

describe('the error for a failed start is one sentence with what to do', { concurrent: true }, () => {
  test('[S18] a port in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await using site = await openSite({ decide: doDuties });
    const { code, output } = await site.runToEnd({ PORT: String(port) });
    other.close();
    expect(output).toBe(
      `Port ${port} of 127.0.0.1 is in use. Stop the other program, or set PORT to another port, e.g. PORT=${port === 65_535 ? 4100 : port + 1}.\n`,
    );
    expect(code).toBe(1);
  });

  test('[S18] an address of another machine', async () => {
    await using site = await openSite({ decide: doDuties });
    // Reserved for documentation: no machine has it.
    const { code, output } = await site.runToEnd({ HOST: '192.0.2.1' });
    expect(output).toMatch(
      /^This machine has no address "192\.0\.2\.1"\. Set HOST to an address of this machine[^\n]*\n$/,
    );
    expect(code).toBe(1);
  });

  test('[S18] a folder below /proc, where the recursive mkdir of Node never ends', async () => {
    await using site = await openSite({ decide: doDuties });
    const { code, output } = await site.runToEnd({ LASTCALL_HOME: '/proc/lastcall/home' });
    expect(output).toMatch(
      /^The folder "\/proc\/lastcall\/home" cannot be written to \(E\w+\)\. Set LASTCALL_HOME to a folder[^\n]*\n$/,
    );
    expect(code).toBe(1);
  });

  test('[S18] a folder that cannot be written to', async () => {
    await using site = await openSite({ decide: doDuties });
    // A file where the folder should be stops root, too.
    await writeFile(join(site.folder, 'file'), '');
    const { code, output } = await site.runToEnd({ LASTCALL_HOME: 'file/home' });
    expect(output).toMatch(
      /^The folder "file\/home" cannot be written to \(ENOTDIR\)\. Set LASTCALL_HOME to a folder[^\n]*\n$/,
    );
    expect(code).toBe(1);
  });

  test('[S18] a lastcall.db that is not a database', async () => {
    await using site = await openSite({ decide: doDuties });
    await mkdir(join(site.folder, '.lastcall'));
    await writeFile(join(site.folder, '.lastcall', 'lastcall.db'), 'These are my notes.');
    const { code, output } = await site.runToEnd();
    expect(output).toBe(
      '".lastcall/lastcall.db" is not a SQLite database. Move it away, or set LASTCALL_HOME to another folder.\n',
    );
    expect(code).toBe(1);
    expect(await readFile(join(site.folder, '.lastcall', 'lastcall.db'), 'utf8')).toBe('These are my notes.');
  });

  test.each([
    [
      'does not answer',
      { port: '1' },
      /^PostgreSQL at 127\.0\.0\.1:1 does not answer \(ECONNREFUSED\)\. Start it, or correct DATABASE_URL\.\n$/,
    ],
    [
      'refuses the password',
      { password: 'wrong-password' },
      /^PostgreSQL at \S+ refuses the user "lastcall"\. Check the user and the password in DATABASE_URL\.\n$/,
    ],
    [
      'has no such database',
      { pathname: '/not_there' },
      /^PostgreSQL at \S+ has no database "not_there"\. Create it \(createdb not_there\), or correct DATABASE_URL\.\n$/,
    ],
  ])('[S18] a database that %s', async (_how, change, sentence) => {
    await using site = await openSite({ decide: doDuties });
    const url = Object.assign(new URL(inject('postgresUrl')), change);
    const { code, output } = await site.runToEnd({ DATABASE_URL: url.href });
    expect(output).toMatch(sentence);
    expect(output).not.toContain('wrong-password');
    expect(code).toBe(1);
  });
});

test('[S18] the configuration in a CommonJS folder is loaded too', async () => {
  const config = `import { name } from './name.ts';
export default { agents: [{ name, instructions: 'You wait.' }] };
`;
  await using site = await openSite({ decide: doDuties, config });
  // As `npm init -y` writes it.
  await writeFile(join(site.folder, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  await writeFile(join(site.folder, 'name.ts'), "export const name: string = 'Anna';\n");
  const gateway = await site.start('a');
  expect(gateway.output).toContain('"agents":1');
});
