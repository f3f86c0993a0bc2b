// Bundles the packages: one file for each entry point, and the chunks that entry points share. A gateway that loads 800 small
// files spends most of its start on opening them (decision 0004). The types come from `tsc`.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS = ['core', 'machines', 'gateway', 'client', 'create', 'cli'].map((name) =>
  join(repository, 'packages', name),
);

/** Only the gateway uses it, and it has more than 250 files. All other dependencies stay outside (decision 0004). */
const INLINED = 'kysely';

/** A program that is loading an older build must not find chunks of this one under the same name. */
const NAMES = { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' };

/** For the tests, which start gateways, commands and simulations from the bundles. */
export async function bundleAll() {
  await Promise.all([...FOLDERS.map(bundle), bundleSimulation()]);
  await bundleProgram();
}

/** What configurations and models load in a gateway that has it too: they must get the same modules, and not load them again. */
const SHARED = ['zod', '@ai-sdk/openai-compatible'];

/**
 * `lastcall` from the bundles of the packages, with their dependencies in it, for processes that tests start: Node takes a quarter of a start
 * to find, read and link 400 files of dependencies. Only tests that install the packages prove that these find them.
 */
async function bundleProgram() {
  const packages = ['core', 'machines', 'gateway'].map((name) => join(repository, 'packages', name));
  const specifiers = [...packages.flatMap(specifiersOf), ...SHARED];
  const build = await rolldown({
    cwd: repository,
    input: {
      bin: join(repository, 'packages/cli/dist/bin.js'),
      ...Object.fromEntries(specifiers.map((specifier) => [specifier, specifier])),
    },
    platform: 'node',
    // `pg` asks for it and does without.
    external: ['pg-native'],
  });
  const { output } = await build.generate({ format: 'esm', ...NAMES });
  const program = join(repository, 'node_modules/.cache/program');
  const entries = output.filter(({ isEntry }) => isEntry).map(({ name, fileName }) => [name, fileName]);
  const start = { fileName: 'start.js', isEntry: true, code: startOf(Object.fromEntries(entries)) };
  write(join(program, 'dist'), [...output, start]);
  // The gateway reads its version from it, at the same place as in its package.
  replace(join(program, 'package.json'), readFileSync(join(repository, 'packages/gateway/package.json'), 'utf8'));
}

/** Begins the program. What a configuration imports by these names is what the program has. */
function startOf(files) {
  return `import { registerHooks } from 'node:module';

const files = ${JSON.stringify(files, null, 2)};

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!Object.hasOwn(files, specifier)) return nextResolve(specifier, context);
    return { url: new URL(files[specifier], import.meta.url).href, format: 'module', shortCircuit: true };
  },
});
await import('./bin.js');
`;
}

/** What the entry points of a package are imported by. */
function specifiersOf(folder) {
  const { name, exports } = readJson(join(folder, 'package.json'));
  return Object.keys(exports)
    .filter((path) => exports[path].default !== undefined)
    .map((path) => name + path.slice(1));
}

/** The simulation with the gateway in it: from 900 source files, each of its processes takes two seconds to start. */
async function bundleSimulation() {
  const folder = join(repository, 'packages/gateway');
  const build = await rolldown({
    cwd: folder,
    input: join(folder, 'test/simulation/main.ts'),
    platform: 'node',
    resolve: { conditionNames: ['@lastcall/source', 'node', 'import'] },
    external: (id) => /^[a-z@]/.test(id) && packageOf(id) !== INLINED && !id.startsWith('@lastcall/'),
  });
  const { output } = await build.generate({ format: 'esm', ...NAMES });
  write(join(repository, 'node_modules/.cache/simulation'), output);
}

// `npm run soak` starts gateways from the bundles too.
if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleAll();

/** Writes the bundles of one package, from its current sources, into its `dist`. */
export async function bundle(folder) {
  const manifest = readJson(join(folder, 'package.json'));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const outside = new Set(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }));
  outside.delete(INLINED);
  const build = await rolldown({
    // The names of sources in comments are relative to it.
    cwd: folder,
    input: entriesOf(folder, manifest),
    platform: 'node',
    transform: { target: targetOf(folder) },
    resolve: { conditionNames: ['node', 'import'] },
    external: (id) => id.startsWith('node:') || outside.has(packageOf(id)),
    // It is about 'use client' in the hooks of the client, which is kept in their entry point.
    onLog: (level, log, next) => log.code === 'MODULE_LEVEL_DIRECTIVE' || next(level, log),
  });
  const { output } = await build.generate({ format: 'esm', ...NAMES });
  const dist = join(folder, 'dist');
  write(dist, output);
  writeLicences(dist, output);
}

/** Writes the files of a build, and removes those of older ones. */
function write(dist, output) {
  mkdirSync(dist, { recursive: true });
  const entriesLast = output.toSorted((one, other) => Number(one.isEntry) - Number(other.isEntry));
  for (const { fileName, code } of entriesLast) replace(join(dist, fileName), code);
  const made = new Set(output.map(({ fileName }) => join(fileName)));
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (/\.js(\.\d+)?$/.test(file) && !made.has(file)) rmSync(join(dist, file));
}

/** The licences of the packages whose code is in the bundles. */
function writeLicences(dist, output) {
  const roots = output
    .flatMap(({ moduleIds }) => moduleIds)
    .map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll('\\', '/'))?.[0]);
  const texts = [...new Set(roots)].filter((root) => root !== undefined).map(licenceOf);
  if (texts.length > 0) replace(join(dist, 'THIRD-PARTY-LICENSES'), texts.toSorted().join('\n\n'));
}

function licenceOf(root) {
  const { name, version } = readJson(join(root, 'package.json'));
  const file = readdirSync(root).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file, so its code cannot be bundled.`);
  return `${name} ${version}\n\n${readFileSync(join(root, file), 'utf8').trim()}\n`;
}

/** The sources of the entry points, by the place of their bundles in `dist`. */
function entriesOf(folder, { exports, bin = {} }) {
  const files = [...Object.values(exports).flatMap((target) => target.default ?? []), ...Object.values(bin)];
  const names = files.map((file) => file.replace(/^(\.\/)?dist\/|\.js$/g, ''));
  return Object.fromEntries(names.map((name) => [name, join(folder, 'src', `${name}.ts`)]));
}

/** The name of the package that an import names a file of. */
function packageOf(id) {
  return id.split('/', id.startsWith('@') ? 2 : 1).join('/');
}

/** The language that the package is checked for is the one that it is compiled to. */
function targetOf(folder) {
  const base = readJson(join(repository, 'tsconfig.base.json'));
  return readJson(join(folder, 'tsconfig.json')).compilerOptions.target ?? base.compilerOptions.target;
}

/** Replaces the file in one step, and only if it has changed: a program may be loading it. */
function replace(file, text) {
  if (contentOf(file) === text) return;
  mkdirSync(dirname(file), { recursive: true });
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text);
  renameSync(next, file);
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
