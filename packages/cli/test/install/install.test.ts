import { execFile } from 'node:child_process';
import { lstat, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Program } from '../support/program.ts';
import { type Installed, install, repository, wouldInstall } from './installed.ts';
import { runTutorial } from './tutorial.ts';

const run = promisify(execFile);
const PACKAGES = {
  core: '@lastcall/core',
  machines: '@lastcall/machines',
  gateway: '@lastcall/gateway',
  client: '@lastcall/client',
} as const;
type Name = keyof typeof PACKAGES;
/** In the order of publishing: each package comes after those that it needs. */
const RELEASED = [
  '@lastcall/core',
  '@lastcall/machines',
  '@lastcall/studio',
  '@lastcall/gateway',
  '@lastcall/client',
  'create-lastcall',
  'lastcall',
];

// Stays undefined if the installation fails.
let installed: Installed;

beforeAll(async () => {
  installed = await install();
  for (const name of Object.keys(PACKAGES) as Name[]) {
    const program = await readmeProgram(name);
    await writeFile(join(installed.folder, `${name}.js`), program);
    await writeFile(join(installed.folder, `${name}.ts`), program);
  }
});
afterAll(async () => await installed?.[Symbol.asyncDispose]());

/** The program in a package's README, which is JavaScript and TypeScript at once. */
async function readmeProgram(name: Name): Promise<string> {
  const readme = await readFile(join(repository, 'packages', name, 'README.md'), 'utf8');
  return /^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
}

/** What a program prints, as its comments say. */
async function promised(name: Name): Promise<string> {
  return Array.from((await readmeProgram(name)).matchAll(/^\/\/ → (.*)$/gm), ([, line]) => line).join('\n');
}

describe('what a release publishes', () => {
  test('[S14] every package is packed with compiled code, types, README, licence and metadata, and nothing else', async () => {
    const licence = await readFile(join(repository, 'LICENSE'), 'utf8');
    expect(installed.tarballs).toHaveLength(RELEASED.length);
    for (const name of RELEASED) {
      const folder = join(installed.folder, 'node_modules', name);
      // Without the packages that npm put into it.
      const files = (await readdir(folder, { recursive: true })).filter((file) => !file.startsWith('node_modules'));
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      expect(await readFile(join(folder, 'LICENSE'), 'utf8')).toBe(licence);
      expect(files).toContain('README.md');
      expect(manifest).toMatchObject({ license: 'MIT', description: expect.any(String), keywords: expect.any(Array) });
      expect(manifest.engines.node).toMatch(/^>=2/);
      for (const target of targetsOf(manifest)) expect(files).toContain(target.replace('./', ''));
      const unwanted = files.filter((file) => /^(src|test)\b|tsbuildinfo|\.test\.(js|d\.ts)$|\.map$/.test(file));
      expect(unwanted).toEqual([]);
    }
  });

  test('[S14] the gateway, whose code includes that of another package, is packed with its licence too', async () => {
    const folder = join(installed.folder, 'node_modules/@lastcall/gateway/dist');
    expect(await readFile(join(folder, 'THIRD-PARTY-LICENSES'), 'utf8')).toMatch(/^kysely \d[\s\S]*MIT License/);
  });

  test('[S14] a dry run of the release names every package in the order in which it would be published', () => {
    const names = Array.from(installed.released.matchAll(/^Would publish (\S+) \d/gm), ([, name]) => name);
    expect(names).toEqual(RELEASED);
  });

  test('[S14] a production install of everything is 60 MB at most, and has the size that docs/installing.md says', async () => {
    const lock = JSON.parse(await readFile(join(installed.folder, 'node_modules/.package-lock.json'), 'utf8'));
    const production = Object.entries(lock.packages as Record<string, { dev?: boolean }>).filter(([, { dev }]) => !dev);
    let bytes = 0;
    for (const [path] of production) bytes += await sizeOf(join(installed.folder, path));
    expect(bytes).toBeGreaterThan(5_000_000);
    expect(bytes).toBeLessThan(60_000_000);
    const page = await readFile(join(repository, 'docs/installing.md'), 'utf8');
    const [, said] = /is about (\d+) MB/.exec(page) ?? [];
    expect(Math.abs(bytes / 1_000_000 - Number(said))).toBeLessThan(4);
  });
});

describe('installed in an empty folder', () => {
  test.each([
    ['core', 20],
    ['core', 22],
    ['core', 24],
    ['machines', 20],
    ['machines', 22],
    ['machines', 24],
    ['gateway', 22],
    ['gateway', 24],
  ] as const)('[S14] the program in the README of %s prints what it says on Node %i', async (name, version) => {
    const { stdout } = await run(installed.nodes[version], [`${name}.js`], { cwd: installed.folder });
    // Without its log, which is JSON.
    const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(lines.join('\n')).toBe(await promised(name));
  });

  test('[S14] with engine-strict npm installs core, machines and the client on Node 20, and every package on Node 22', async () => {
    const { tarballs, nodes } = installed;
    // Node 22 needs no check here: all packages were installed on it before.
    await wouldInstall(
      tarballs.filter((file) => /lastcall-(core|machines|client)-/.test(file)),
      nodes[20],
    );
  });

  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    '[S14] the same programs compile in strict TypeScript, module %s, resolution %s, with all types checked',
    async (module, moduleResolution) => {
      const config = `tsconfig.${moduleResolution}.json`;
      const compilerOptions = {
        ...{ module, moduleResolution, target: 'es2024', strict: true, noEmit: true, skipLibCheck: false },
        ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: ['node'] },
      };
      await writeFile(join(installed.folder, config), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      const tsc = join(installed.folder, 'node_modules/.bin/tsc');
      await expect(run(tsc, ['-p', config], { cwd: installed.folder })).resolves.toMatchObject({ stdout: '' });
    },
  );

  test('[S18] if Node is too old, one sentence says so and what to do', async () => {
    await using program = command(['start'], 20);
    const { code, err } = await program.ended;
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Lastcall needs Node 22\.19 or later, and this is Node 20\.\S+\. Install a newer one[^\n]+\n$/,
    );
  });

  test('[S15] npm create lastcall makes a folder in which npm test passes and npm start runs its agent', async () => {
    const create = join(installed.folder, 'node_modules/.bin/create-lastcall');
    await using refused = new Program([installed.nodes[20], create, 'shop'], { folder: installed.folder });
    expect(await refused.ended).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^Lastcall needs Node 22\.19 or later, and this is Node 20\.[^\n]+\n$/),
    });
    expect(await readdir(installed.folder)).not.toContain('shop');
    await run(create, ['shop'], { cwd: installed.folder, env: { ...process.env } });
    const folder = join(installed.folder, 'shop');
    expect((await readdir(folder)).sort()).toEqual([
      '.env',
      '.gitignore',
      'README.md',
      'clerk.eval.ts',
      'lastcall.config.ts',
      'package.json',
      'tools.test.ts',
      'tools.ts',
      'tsconfig.json',
    ]);
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'shop',
      type: 'module',
    });
    // On a Node that cannot run the tests, npm test fails.
    await using tooOld = new Program(['npm', 'test'], { folder, node: installed.nodes[20] });
    expect((await tooOld.ended).code).not.toBe(0);
    for (const version of [22, 24] as const) {
      await using tests = new Program(['npm', 'test'], { folder, node: installed.nodes[version] });
      expect(await tests.ended).toMatchObject({ code: 0, out: expect.stringMatching(/pass 3\b/) });
    }
    // On the oldest Node; the tutorial runs everything on the newest.
    const healthy = await command(['doctor'], 22, folder).ended;
    expect(healthy).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('ok    configuration lastcall.config.ts'),
    });
    await using gateway = new Program(['npm', 'start'], { folder, node: installed.nodes[22], env: { PORT: '0' } });
    const url = await gateway.listens();
    const tried = command(['tools', 'test', 'look_up_order', '{"orderId":"A-17"}', '--url', url], 22, folder);
    expect(await tried.ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('{"article":"lamp","euros":40}'),
    });
    const tsc = join(installed.folder, 'node_modules/.bin/tsc');
    // The types of the packages are checked above, with stricter options.
    await expect(run(tsc, ['-p', folder, '--skipLibCheck'], { cwd: folder })).resolves.toMatchObject({ stdout: '' });
  });
});

test('[S10] [S14] the client talks on Node 20 to the installed gateway, also after that was killed', async () => {
  const talk = `import { createClient } from '@lastcall/client';
    const lastcall = createClient({ url: process.env.URL, auth: { key: 'a-key-of-the-test' } });
    const [space] = (await lastcall.spaces.list()).items;
    const [ada] = (await lastcall.entities.list({ kind: 'human' })).items;
    await lastcall.spaces.say(space.id, { text: process.env.TEXT, entityId: ada.id });
    const { items } = await lastcall.spaces.messages(space.id);
    console.log(items.map(({ text }) => text).join(' '));`;
  const folder = installed.folder;
  await writeFile(join(folder, 'talk.js'), talk);
  const env = { LASTCALL_SECRET_KEY: 'a-key-of-the-test', LASTCALL_HOME: 'talking' };
  const start = [installed.nodes[24], join(folder, 'node_modules/lastcall/dist/bin.js'), 'start'];
  const say = async (URL: string, TEXT: string): Promise<string> => {
    await using program = new Program([installed.nodes[20], 'talk.js'], { folder, env: { URL, TEXT } });
    return (await program.ended).out;
  };
  await using first = new Program(start, { folder, env: { ...env, PORT: '0' } });
  expect(await say(await first.listens(), 'One')).toContain('One');
  first.send('SIGKILL');
  await first.ended;
  await using second = new Program(start, { folder, env: { ...env, PORT: '0' } });
  expect(await say(await second.listens(), 'Two')).toMatch(/One.*Two|Two.*One/);
});

test('[S1] an old Node builds the studio before npm start, with the Node of the repository', async () => {
  const { scripts } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
  const command = scripts.prestart.split(' ');
  await using build = new Program(command, { folder: repository, node: installed.nodes[20] });
  expect(await build.ended).toMatchObject({ code: 0, err: '' });
});

test('[S20] the blocks of the tutorial print what it says, from the first to the last, and the order is refunded once', async () => {
  const blocks = await runTutorial(installed);
  expect(blocks.length).toBeGreaterThan(8);
  for (const { commands, exitCode, printed, promised } of blocks) {
    for (const line of promised) expect(printed).toContain(line);
    // Exit code 11: the run waits for an answer.
    expect({ commands, exitCode, printed }).toMatchObject({ exitCode: commands.includes('lastcall run') ? 11 : 0 });
  }
  expect(blocks.at(-2)?.printed).toMatch(/^[\w-]+ 40 euros\n\s*1$/m);
});

test('the command and the probe of the Dockerfile run a gateway that is ready and serves its studio, and SIGTERM ends it with 0', async () => {
  const page = await readFile(join(repository, 'docs/deploying.md'), 'utf8');
  const dockerfile = /^```dockerfile\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
  const [, probe = ''] = /^HEALTHCHECK CMD (.*)$/m.exec(dockerfile) ?? [];
  const [, start = ''] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
  expect(page).toContain(`ExecStart=/usr/bin/${(JSON.parse(start) as string[]).join(' ')}\n`);
  const options = { folder: installed.folder, env: { HOST: '0.0.0.0', PORT: '0', LASTCALL_HOME: 'home' } };
  await using gateway = new Program(JSON.parse(start), options);
  const PORT = new URL(await gateway.listens()).port;
  await using ready = new Program(JSON.parse(probe), { ...options, env: { PORT } });
  expect(await ready.ended).toMatchObject({ code: 0 });
  const url = `http://127.0.0.1:${PORT}`;
  const studio = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(studio) ?? [];
  const answer = await fetch(url + script);
  expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, expect.stringMatching(/br|gzip/)]);
  gateway.send('SIGTERM');
  expect(await gateway.ended).toMatchObject({ code: 0 });
  await using gone = new Program(JSON.parse(probe), { ...options, env: { PORT } });
  expect(await gone.ended).toMatchObject({ code: 1 });
});

function command(args: readonly string[], version: 20 | 22 | 24, folder: string = installed.folder): Program {
  const bin = join(installed.folder, 'node_modules/lastcall/dist/bin.js');
  return new Program([installed.nodes[version], bin, ...args], { folder });
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
}

/** Every file that a program may import. The source condition is only for the repository. */
function targetsOf({ exports, bin = {} }: Manifest): readonly string[] {
  const exported = Object.values(exports).flatMap((target) =>
    typeof target === 'string'
      ? [target]
      : Object.entries(target).flatMap(([condition, file]) => (condition === '@lastcall/source' ? [] : [file])),
  );
  return [...exported, ...Object.values(bin)];
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // The packages inside are listed by themselves.
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : await sizeOf(path);
    else bytes += (await lstat(path)).size;
  }
  return bytes;
}
