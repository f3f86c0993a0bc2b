import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Difference, differenceOf } from './difference.ts';
import type { FolderPlan, Left } from './folder-plan.ts';
import { newlineOf } from './json-object.ts';
import { commandsOf, extendPackageJson, newPackageJson, readPackageJson, wantedOf } from './package-json.ts';
import { ProjectRefused } from './project-refused.ts';
import { sampleFor } from './sample.ts';
import { envText, readmeText, readRelease, readTemplate } from './template.ts';

export interface Project extends Difference {
  readonly folder: string;
}

/**
 * Creates a folder in which `npm install`, `npm start` and `npm test` work. In a folder that has files, it adds what is
 * missing and changes nothing else.
 */
export async function createProject(given: string): Promise<Project> {
  const folder = resolve(given);
  const plan = await planFor(folder);
  await write(folder, plan);
  return { folder, ...differenceOf(plan, given) };
}

async function planFor(folder: string): Promise<FolderPlan> {
  const [template, release, there] = await Promise.all([readTemplate(), readRelease(), readFolder(folder)]);
  const templateText = (name: string): string => template.get(name) ?? '';
  const has = (name: string): boolean => there.has(name);
  const packageJson = readPackageJson(there.get('package.json'));
  const sample = sampleFor(template, { ...packageJson, has });
  const { commands, left } = commandsOf(packageJson, sample);
  const wanted = wantedOf(release, { ...packageJson, hasTest: sample.test !== undefined });
  const manifest = has('package.json') ? extendPackageJson(packageJson, wanted) : { extended: [], left: [] };
  const ignored = extendGitIgnore(there.get('.gitignore') ?? '', templateText('.gitignore'));
  const texts = new Map([
    ['package.json', newPackageJson(folder, wanted)],
    ...sample.files,
    ['tsconfig.json', templateText('tsconfig.json')],
    ['.env', envText()],
    ['.gitignore', ignored.text],
    ['README.md', readmeText(templateText('README.md'), commands, sample)],
  ]);
  const extendsIgnored = has('.gitignore') && ignored.additions.length > 0;
  return {
    added: new Map([...texts].filter(([name]) => !has(name))),
    extended: [...manifest.extended, ...(extendsIgnored ? [{ file: '.gitignore', ...ignored }] : [])],
    left: [...left, ...manifest.left, ...filesLeft(there, template), ...sampleLeft(sample, has)],
    commands,
  };
}

/** The contents of these files decide what is added. */
const READ = ['package.json', '.gitignore', '.env', 'tsconfig.json'];

/** The names in the folder, with the texts of those files. */
async function readFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  try {
    for (const name of await readdir(folder))
      texts.set(name, READ.includes(name) ? await readFile(join(folder, name), 'utf8') : '');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw new ProjectRefused(`${folder} cannot be read: ${message}. Choose another folder.`, { cause });
  }
  return texts;
}

/** Notes on files that were not changed, but that users may want to change. */
function filesLeft(there: ReadonlyMap<string, string>, template: ReadonlyMap<string, string>): readonly Left[] {
  const [env, tsconfig] = [there.get('.env'), there.get('tsconfig.json')];
  const left: Left[] = [];
  if (env !== undefined && !/^\s*(export\s+)?LASTCALL_SECRET_KEY\s*=/m.test(env))
    left.push({
      file: '.env',
      note: 'sets no LASTCALL_SECRET_KEY. The first start prints a key: write it there for the other commands.',
    });
  if (tsconfig !== undefined && tsconfig !== template.get('tsconfig.json'))
    left.push({
      file: 'tsconfig.json',
      note: 'must have "allowImportingTsExtensions", "noEmit" and "module": "nodenext" if it is to check the new files. Or exclude them.',
    });
  return left;
}

/** An existing configuration has its own tools, so no sample is added. */
function sampleLeft(
  { config, test }: { config: string; test: string | undefined },
  has: (name: string) => boolean,
): readonly Left[] {
  if (!has(config) || test !== undefined) return [];
  return [{ file: config, note: 'exists already, so no sample was added.' }];
}

async function write(folder: string, { added, extended }: FolderPlan): Promise<void> {
  try {
    await makeFolder(folder);
    // `wx` overwrites no file, not even one that was created in the meantime. The key in .env is a secret.
    for (const [name, text] of added)
      await writeFile(join(folder, name), text, { flag: 'wx', ...(name === '.env' ? { mode: 0o600 } : {}) });
    for (const { file, text } of extended) await writeFile(join(folder, file), text);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ProjectRefused(`${folder} cannot be written to (${code}). Choose a folder that you may write to.`, {
      cause,
    });
  }
}

/** Without `recursive` of Node, which never ends in a folder that answers ENOENT to a creation, such as /proc. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    // Another process may have created it meanwhile.
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Finds the lines of the template that a .gitignore lacks, and appends them to its text. */
function extendGitIgnore(
  text: string,
  template: string,
): { readonly text: string; readonly additions: readonly string[] } {
  const there = new Set(linesOf(text).map(pathOf));
  const additions = linesOf(template).filter((line) => !there.has(pathOf(line)));
  const newline = newlineOf(text);
  const whole = text === '' || text.endsWith('\n') ? text : text + newline;
  return { text: whole + additions.map((line) => line + newline).join(''), additions };
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** `node_modules`, `/node_modules` and `node_modules/` ignore the same folder. */
function pathOf(line: string): string {
  return line.replace(/^\/|\/$/g, '');
}
