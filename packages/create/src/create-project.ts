import { randomBytes } from 'node:crypto';
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Project {
  readonly folder: string;
  /** What was written, relative to the folder. */
  readonly files: readonly string[];
  /** The commands that come next, in words. */
  readonly next: string;
}

/** The folder cannot be used. The message says what to do. */
export class ProjectRefused extends Error {
  override readonly name: string = 'ProjectRefused';
}

const HERE = dirname(fileURLToPath(import.meta.url));
const TEMPLATE = join(HERE, '../template');

/** Makes a folder in which `npm install`, `npm start` and `npm test` work. Nothing that is there is overwritten. */
export async function createProject(given: string): Promise<Project> {
  const folder = resolve(given);
  const files = new Map<string, string>();
  // npm leaves files with this name out of a package, so the template has it under another.
  for (const name of await readdir(TEMPLATE))
    files.set(name === 'gitignore' ? '.gitignore' : name, await readFile(join(TEMPLATE, name), 'utf8'));
  files.set('.env', envFile());
  const manifest = await manifestOf(folder);
  await assertNew(folder, [...files.keys()]);
  await write(folder, files);
  await writeFile(join(folder, 'package.json'), manifest);
  return { folder, files: ['package.json', ...files.keys()], next: nextSteps(given) };
}

async function assertNew(folder: string, names: readonly string[]): Promise<void> {
  const there = [];
  for (const name of names) if (await exists(join(folder, name))) there.push(name);
  if (there.length > 0)
    throw new ProjectRefused(`${folder} has ${there.join(', ')} already. Choose another folder, or remove that first.`);
}

async function write(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    // The key in it is a secret.
    for (const [name, text] of files)
      await writeFile(join(folder, name), text, name === '.env' ? { mode: 0o600 } : undefined);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ProjectRefused(`${folder} cannot be written to (${code}). Choose a folder of your own.`, { cause });
  }
}

/** What is in a package.json of the folder stays, e.g. one made by `npm init -y`. Only what Lastcall needs is added. */
async function manifestOf(folder: string): Promise<string> {
  const file = join(folder, 'package.json');
  const own = (await exists(file)) ? (JSON.parse(await readFile(file, 'utf8')) as Manifest) : undefined;
  const { version } = JSON.parse(await readFile(join(HERE, '../package.json'), 'utf8')) as { version: string };
  const ours = { '@lastcall/core': `^${version}`, '@lastcall/gateway': `^${version}`, lastcall: `^${version}` };
  const manifest = {
    ...(own ?? { name: packageName(folder), version: '0.1.0', private: true }),
    type: 'module',
    scripts: { ...own?.scripts, start: 'lastcall start', dev: 'lastcall dev', test: 'node --test' },
    dependencies: { ...own?.dependencies, ...ours, zod: '^4.6.7' },
    devDependencies: { ...own?.devDependencies, '@types/node': '^24.10.1' },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'my-agent' : name;
}

function envFile(): string {
  return `# The secret key of your gateway. Commands such as "npx lastcall tools test" read it here, too.
LASTCALL_SECRET_KEY=${randomBytes(24).toString('hex')}

# Without a key of a provider, agents use the rehearsal, which follows simple rules. To use a real model, install its
# package (npm install @ai-sdk/anthropic) and set its key:
# ANTHROPIC_API_KEY=
`;
}

function nextSteps(given: string): string {
  const folder = relative(process.cwd(), resolve(given));
  const enter = folder === '' ? [] : [`  cd ${folder}`];
  return ['Made an agent with two tools. Next:', ...enter, '  npm install', '  npm start', '  npm test'].join('\n');
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
