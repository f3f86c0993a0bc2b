import { basename } from 'node:path';
import type { Commands, FolderPlan, Left } from './folder-plan.ts';
import { addMember } from './json-object.ts';
import { ProjectRefused } from './project-refused.ts';

const NODE_TEST = /^node --test\b/;

type Section = Readonly<Record<string, unknown>>;

interface Manifest {
  readonly type?: unknown;
  readonly scripts?: Section;
  readonly dependencies?: Section;
  readonly devDependencies?: Section;
  readonly peerDependencies?: Section;
  readonly optionalDependencies?: Section;
}

/** This package's version and Node range. All packages of Lastcall share them. */
export interface Release {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The package.json of a folder, and the facts that the other files depend on. */
export interface PackageJson {
  readonly text: string | undefined;
  readonly manifest: Manifest;
  /** True if Node reads the folder's `.ts` files as modules. A new package.json says so. */
  readonly isModule: boolean;
  /** True if another program runs the folder's tests. It should not find ours. */
  readonly hasOtherTests: boolean;
}

export function readPackageJson(text: string | undefined): PackageJson {
  const manifest = text === undefined ? {} : parse(text);
  const test = manifest.scripts?.test;
  return {
    text,
    manifest,
    isModule: text === undefined || manifest.type === 'module',
    hasOtherTests: test !== undefined && !NODE_TEST.test(String(test)),
  };
}

function parse(text: string): Manifest {
  let manifest: unknown;
  try {
    // npm also accepts a byte order mark.
    manifest = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const message = `package.json is not valid JSON (${(cause as Error).message}). Correct it first: nothing was changed.`;
    throw new ProjectRefused(message, { cause });
  }
  const sections = ['scripts', 'dependencies', 'devDependencies'] as const;
  const wrong = isObject(manifest)
    ? sections.find((name) => manifest[name] !== undefined && !isObject(manifest[name]))
    : 'package.json';
  if (wrong === undefined) return manifest as Manifest;
  throw new ProjectRefused(`${wrong} must be an object in package.json. Correct it first: nothing was changed.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a package.json for a folder that has none. */
export function newPackageJson(folder: string, wanted: Wanted): string {
  const { engines, ...sections } = wanted;
  const head = { name: packageName(folder), version: '0.1.0', private: true, type: 'module', engines };
  return `${JSON.stringify({ ...head, ...sections }, null, 2)}\n`;
}

/** Adds what is missing in a package.json and leaves every other character as it is. */
export function extendPackageJson(given: PackageJson, wanted: Wanted): Pick<FolderPlan, 'extended' | 'left'> {
  const { manifest, text: before = '' } = given;
  const left: Left[] = [];
  const additions: string[] = [];
  let text = before;
  for (const section of ['scripts', 'dependencies', 'devDependencies'] as const)
    for (const [key, value] of Object.entries(wanted[section])) {
      const there = section === 'scripts' ? manifest.scripts?.[key] : dependency(manifest, key);
      if (there === undefined) {
        text = addMember(text, { path: [section], key, value });
        additions.push(`${section}.${key}: ${value}`);
      } else if (section !== 'scripts' && there !== value)
        left.push({ file: 'package.json', key, note: `is ${there}. The sample was written for ${value}.` });
    }
  if (!given.isModule) left.push({ file: 'package.json', key: 'type', note: typeNote(manifest.type) });
  return { extended: additions.length === 0 ? [] : [{ file: 'package.json', text, additions }], left };
}

/**
 * The commands that run the sample. If the npm script is ours, the npm command is used, otherwise the program itself.
 */
export function commandsOf(
  { manifest: { scripts = {} } }: PackageJson,
  { test }: { readonly test: string | undefined },
): { commands: Commands; left: readonly Left[] } {
  const ours = { start: /^lastcall start\b/, dev: /^lastcall dev\b/, test: NODE_TEST };
  const npm: Commands = { start: 'npm start', dev: 'npm run dev', test: test === undefined ? '' : 'npm test' };
  const direct: Commands = { start: 'npx lastcall start', dev: 'npx lastcall dev', test: `node --test ${test}` };
  const isOther = (name: keyof Commands): boolean =>
    npm[name] !== '' && scripts[name] !== undefined && !ours[name].test(String(scripts[name]));
  const others = (['start', 'dev', 'test'] as const).filter(isOther);
  const commands = { ...npm, ...Object.fromEntries(others.map((name) => [name, direct[name]])) };
  const left = others.map((name) => ({
    file: 'package.json',
    key: `scripts.${name}`,
    note: `is ${scripts[name]}. Run "${direct[name]}" instead of "${npm[name]}".`,
  }));
  return { commands, left };
}

/** Looks a package up in all kinds of dependencies. */
function dependency(
  { dependencies, devDependencies, peerDependencies, optionalDependencies }: Manifest,
  name: string,
): unknown {
  return { ...peerDependencies, ...optionalDependencies, ...devDependencies, ...dependencies }[name];
}

function typeNote(type: unknown): string {
  const is = type === undefined ? 'is not set' : `is ${type}`;
  return `${is}. The new files end with .mts, which Node reads as modules all the same.`;
}

/** What a package.json should contain. */
interface Wanted {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Tests {
  readonly isModule: boolean;
  readonly hasTest: boolean;
}

/**
 * The test pattern is written out because an old Node does not find TypeScript tests by itself: it would run no test
 * and pass.
 */
export function wantedOf({ version, engines }: Release, { isModule, hasTest }: Tests): Wanted {
  const test = hasTest ? { test: `node --test "**/*.test.${isModule ? 'ts' : 'mts'}"` } : {};
  return {
    engines,
    scripts: { start: 'lastcall start', dev: 'lastcall dev', ...test },
    dependencies: {
      '@lastcall/core': `^${version}`,
      '@lastcall/gateway': `^${version}`,
      lastcall: `^${version}`,
      zod: '^4.6.7',
    },
    devDependencies: { '@types/node': '^24.10.1' },
  };
}

function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'my-agent' : name;
}
