import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { linkPackages, makeFolder } from './support/folder.ts';
import { type Ended, lastcall, Program } from './support/program.ts';

const CREATE = fileURLToPath(new URL('../../create/dist/bin.js', import.meta.url));

/** The texts of all files below a folder, by name. */
async function textsIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

const init = (folder: string, ...args: readonly string[]): Promise<Ended> => lastcall(['init', ...args], { folder });

/** Starts the gateway of the folder and runs a test with Node, as npm would with the packages installed. */
async function runBoth(folder: string, testFile: string): Promise<void> {
  await runTests(folder, testFile);
  await using gateway = Program.lastcall(['start', '--no-json'], { folder, env: { PORT: '0' } });
  await gateway.listens();
  expect(gateway.out).toMatch(/^lastcall\.config\.m?ts, .* 1 agent, 2 tools, 1 space$/m);
}

async function runTests(folder: string, testFile: string): Promise<void> {
  await linkPackages(folder);
  await using tests = new Program([process.execPath, '--test', testFile], { folder });
  expect(await tests.ended).toMatchObject({ code: 0, out: expect.stringMatching(/pass 3\b/) });
}

/** As `npm init -y` and a person made it, with an indent of tabs, a list on one line and no newline at the end. */
const COMMONJS = `{
\t"name": "shop",
\t"version": "1.0.0",
\t"main": "server.js",
\t"files": ["server.js", "views"],
\t"type": "commonjs",
\t"scripts": {
\t\t"start": "node server.js",
\t\t"test": "echo \\"Error: no test specified\\" && exit 1"
\t},
\t"dependencies": {},
\t"devDependencies": { "zod": "^3.25.0" }
}`;

describe('init', { concurrent: true }, () => {
  test('[S15] makes a folder that works, and running it again changes nothing', async () => {
    await using made = await makeFolder();
    expect(await init(made.path)).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^Added:\n {2}package\.json, .*\nNext:\n {2}npm install\n {2}npm start\n {2}npm test\n$/,
      ),
    });
    const texts = await textsIn(made.path);
    expect(Object.keys(texts).sort()).toEqual([
      ...['.env', '.gitignore', 'README.md', 'clerk.eval.ts', 'lastcall.config.ts', 'package.json'],
      ...['tools.test.ts', 'tools.ts', 'tsconfig.json'],
    ]);
    expect(JSON.parse(texts['package.json'] ?? '')).toMatchObject({
      ...{ type: 'module', engines: { node: expect.stringMatching(/^>=22\./) } },
      scripts: { start: 'lastcall start', dev: 'lastcall dev', test: 'node --test "**/*.test.ts"' },
    });
    expect((await stat(join(made.path, '.env'))).mode & 0o777).toBe(0o600);
    expect(await init(made.path)).toMatchObject({
      code: 0,
      out: 'Nothing was added: everything is there.\nNext:\n  npm install\n  npm start\n  npm test\n',
    });
    expect(await textsIn(made.path)).toEqual(texts);
    await runBoth(made.path, '**/*.test.ts');
    const other = await init(made.path, 'deep/er', '--json');
    expect(JSON.parse(other.out)).toMatchObject({
      folder: expect.stringMatching(/deep\/er$/),
      files: expect.arrayContaining(['.env', 'tools.ts']),
    });
    expect(await readdir(join(made.path, 'deep/er'))).toContain('lastcall.config.ts');
  });

  test('[S15] the commands that come next work in a folder with spaces', async () => {
    await using folder = await makeFolder();
    const { out } = await init(folder.path, 'my "first" agent');
    const [cd = ''] = out.split('\n').filter((line) => line.startsWith('  cd '));
    await using shell = new Program(['bash', '-c', `${cd} && pwd`], { folder: folder.path });
    expect(await shell.ended).toMatchObject({ code: 0, out: expect.stringMatching(/\/my "first" agent\n$/) });
  });

  test('[S15] npm create lastcall refuses what it does not understand, and writes nothing', async () => {
    await using folder = await makeFolder();
    for (const args of [['--typescript'], ['shop', '--typescript'], ['shop', 'desk']]) {
      await using created = new Program([process.execPath, CREATE, ...args], { folder: folder.path });
      const wrong = args.at(-1);
      const err = expect.stringMatching(new RegExp(`^"${wrong}" is not understood\\. Nothing was written\\.\nUsage: `));
      expect(await created.ended).toMatchObject({ code: 2, out: '', err });
    }
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('[S15] adds what a CommonJS project is missing, says what it added and what it left, and changes no other character', async () => {
    const before = {
      'package.json': COMMONJS,
      'README.md': '# Shop\n',
      '.gitignore': 'dist\nnode_modules\n*.log',
      '.env': 'PORT=4000\n',
      'tools.mts': 'export const hammer = 1;\n',
      'tsconfig.json': '{ "include": ["src"] }\n',
      'server.js': "const http = require('node:http');\n",
    };
    await using made = await makeFolder(before);
    const { code, out } = await init(made.path);
    expect(code).toBe(0);
    expect(out).toBe(`Added:
  lastcall.config.mts, lastcall-tools.mts, test-lastcall-tools.mts, clerk.eval.mts
  package.json: scripts.dev: lastcall dev
  package.json: dependencies.@lastcall/core: ^0.1.0
  package.json: dependencies.@lastcall/gateway: ^0.1.0
  package.json: dependencies.lastcall: ^0.1.0
  package.json: devDependencies.@types/node: ^24.10.1
  .gitignore: .lastcall/
  .gitignore: .env
Left as it is:
  package.json: scripts.start is node server.js. Run "npx lastcall start" instead of "npm start".
  package.json: scripts.test is echo "Error: no test specified" && exit 1. Run "node --test test-lastcall-tools.mts" instead of "npm test".
  package.json: zod is ^3.25.0. The sample was written for ^4.6.7.
  package.json: type is commonjs. The new files end with .mts, which Node reads as modules all the same.
  .env: sets no LASTCALL_SECRET_KEY. The first start prints a key: write it there for the other commands.
  tsconfig.json: must have "allowImportingTsExtensions", "noEmit" and "module": "nodenext" if it is to check the new files. Or exclude them.
Next:
  npm install
  npx lastcall start
  node --test test-lastcall-tools.mts
`);
    const texts = await textsIn(made.path);
    expect(texts).toMatchObject({
      ...before,
      '.gitignore': 'dist\nnode_modules\n*.log\n.lastcall/\n.env\n',
      'package.json': COMMONJS.replace('exit 1"\n', 'exit 1",\n\t\t"dev": "lastcall dev"\n')
        .replace(
          '"dependencies": {}',
          '"dependencies": {\n\t\t"@lastcall/core": "^0.1.0",\n\t\t"@lastcall/gateway": "^0.1.0",\n\t\t"lastcall": "^0.1.0"\n\t}',
        )
        .replace('"^3.25.0" }', '"^3.25.0", "@types/node": "^24.10.1" }'),
    });
    expect((await init(made.path)).out).toMatch(/^Nothing was added: everything is there\.\nLeft as it is:\n/);
    expect(await textsIn(made.path)).toEqual(texts);
    await runBoth(made.path, 'test-lastcall-tools.mts');
  });

  test('[S15] keeps the line ends and the indent of a package.json without type, scripts or dependencies', async () => {
    const text = '{\r\n    "name": "shop",\r\n    "private": true\r\n}\r\n';
    await using made = await makeFolder({ 'package.json': text });
    expect(await init(made.path)).toMatchObject({ code: 0, out: expect.stringContaining('type is not set') });
    const { 'package.json': now = '', 'README.md': readme } = await textsIn(made.path);
    expect(now).toMatch(
      /^\{\r\n {4}"name": "shop",\r\n {4}"private": true,\r\n {4}"scripts": \{\r\n {8}"start": "lastcall start",\r\n/,
    );
    expect(now.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(now.endsWith('    }\r\n}\r\n')).toBe(true);
    expect(JSON.parse(now)).toMatchObject({ name: 'shop', scripts: { test: 'node --test "**/*.test.mts"' } });
    expect(readme).toContain('`lastcall.config.mts` has the agent, `tools.mts` its tools');
    // The test above starts such a gateway: Node reads a package without a type as CommonJS.
    await runTests(made.path, '**/*.test.mts');
  });

  test('[S15] adds no sample if there is a configuration', async () => {
    const config = 'export default { agents: [] };\n';
    await using made = await makeFolder({ 'lastcall.config.mjs': config, 'package.json': '{"type":"module"}' });
    expect(await init(made.path)).toMatchObject({
      code: 0,
      out: expect.stringContaining('  lastcall.config.mjs: exists already, so no sample was added.\n'),
    });
    const texts = await textsIn(made.path);
    expect(Object.keys(texts).sort()).toEqual(
      ['.env', '.gitignore', 'README.md', 'lastcall.config.mjs', 'package.json', 'tsconfig.json'].sort(),
    );
    expect(texts['lastcall.config.mjs']).toBe(config);
    expect(JSON.parse(texts['package.json'] ?? '').scripts).toEqual({ start: 'lastcall start', dev: 'lastcall dev' });
  });

  test.runIf(process.platform === 'linux')('[S18] a folder in /proc is refused at once', async () => {
    await using made = await makeFolder({});
    expect(await lastcall(['init', '/proc/lastcall/shop'], { folder: made.path })).toMatchObject({
      code: 1,
      err: '/proc/lastcall/shop cannot be written to (ENOENT). Choose a folder that you may write to.\n',
    });
  });

  test.each([
    [
      'is not JSON',
      '{ "name": }',
      /^package\.json is not valid JSON \(.*\)\. Correct it first: nothing was changed\.\n$/,
    ],
    ['has a list of scripts', '{ "scripts": [] }', /^scripts must be an object in package\.json\. Correct it first/],
    ['is a list', '[]', /^package\.json must be an object/],
  ])('[S15] refuses a package.json that %s, with what to do, and writes nothing', async (_what, text, sentence) => {
    await using made = await makeFolder({ 'package.json': text });
    expect(await init(made.path)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(sentence) });
    expect(await textsIn(made.path)).toEqual({ 'package.json': text });
  });
});
