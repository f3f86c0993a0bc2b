import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Folder, makeFolder } from '../support/folder.ts';

export const repository: string = fileURLToPath(new URL('../../../..', import.meta.url));
const run = promisify(execFile);

/** The result of installing the packages in an empty folder. */
export interface Installed extends AsyncDisposable {
  /** The tarballs that a release would publish. */
  readonly tarballs: readonly string[];
  /** The output of the release script. */
  readonly released: string;
  /** The folder with a package.json of type module in which the packages are installed. */
  readonly folder: string;
  /** Paths of Node programs by major version. */
  readonly nodes: Readonly<Record<20 | 22 | 24, string>>;
}

/** A Node 20 that npm runs on, and one of the oldest major version that the gateway supports. The third is the repository's Node. */
const NODES = { node20: '20.20.2', node22: '22.20.0' };
const NPM = ['--engine-strict', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** Packs all packages as a release does, and installs them once for all tests. */
export async function install(): Promise<Installed> {
  const made = await makeFolder({ 'app/package.json': '{}' });
  try {
    return await installIn(made);
  } catch (error) {
    await made[Symbol.asyncDispose]();
    throw error;
  }
}

async function installIn(made: Folder): Promise<Installed> {
  const [tarballs, folder] = ['tarballs', 'app'].map((name) => join(made.path, name)) as [string, string];
  await mkdir(tarballs);
  // Both end before the folder may be removed.
  const [packed, gotNodes] = await Promise.allSettled([pack(tarballs), installNodes()]);
  if (packed.status === 'rejected') throw packed.reason;
  if (gotNodes.status === 'rejected') throw gotNodes.reason;
  const { files, released } = packed.value;
  const nodes = {
    20: join(gotNodes.value, 'node_modules/node20/bin/node'),
    22: join(gotNodes.value, 'node_modules/node22/bin/node'),
    24: process.execPath,
  };
  await installPackages(folder, files, nodes[22]);
  return {
    tarballs: files,
    released,
    folder,
    nodes,
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}

async function pack(tarballs: string): Promise<{ readonly files: readonly string[]; readonly released: string }> {
  const { stdout: released } = await run(
    process.execPath,
    ['scripts/release.js', 'publish', '--dry-run', '--to', tarballs],
    { cwd: repository },
  );
  const files = (await readdir(tarballs)).sort().map((name) => join(tarballs, name));
  return { files, released };
}

/**
 * Asks npm whether it would install these packages and their dependencies on a Node, in a separate folder. Rejects if one of
 * them does not support that Node.
 */
export async function wouldInstall(tarballs: readonly string[], node: string): Promise<void> {
  await using made = await makeFolder({ 'package.json': '{}' });
  await run('npm', ['install', ...NPM, '--package-lock-only', ...tarballs], { cwd: made.path, env: envWith(node) });
}

/** Programs found in the PATH run on this Node. */
function envWith(node: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
}

/** Resolves with their folder. They are kept for later test runs, because unpacking them takes ten seconds of processor time. */
async function installNodes(): Promise<string> {
  const cache = join(repository, 'node_modules/.cache/nodes');
  const folder = join(cache, [process.platform, process.arch, ...Object.values(NODES)].join('-'));
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const next = await mkdtemp(`${folder}-`);
  await writeFile(join(next, 'package.json'), '{}');
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const wanted = Object.entries(NODES).map(
    ([alias, version]) => `${alias}@npm:node-${system}-${process.arch}@${version}`,
  );
  await run('npm', ['install', ...NPM, '--ignore-scripts', ...wanted], { cwd: next });
  // Renamed in one step, so that an aborted test run leaves no incomplete folder. Another run may have been faster.
  await rename(next, folder).catch((error: unknown) => {
    if (!existsSync(folder)) throw error;
  });
  return folder;
}

/** Installs on the oldest Node that all packages support: with engine-strict, npm refuses a package that does not support it. */
async function installPackages(folder: string, tarballs: readonly string[], node: string): Promise<void> {
  const tools = { typescript: '7.0.2', '@types/node': '24.10.1' };
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', dependencies: { zod: '4.6.7' }, devDependencies: tools }),
  );
  await run('npm', ['install', ...NPM, ...tarballs], { cwd: folder, env: envWith(node) });
}
