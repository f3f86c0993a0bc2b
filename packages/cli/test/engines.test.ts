import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = ['core', 'machines', 'client', 'studio', 'gateway', 'create', 'cli'];

interface Locked {
  readonly version?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

let locked: Readonly<Record<string, Locked>>;
beforeAll(async () => {
  locked = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')).packages;
});

/** Where Node finds a dependency: in the folder of the package that needs it, or in a folder above. */
function findInstalled(from: string, name: string): string {
  for (let folder = from; ; folder = folder.replace(/(^|\/)[^/]*$/, '')) {
    const place = join(folder, 'node_modules', name);
    const { link, resolved = '' } = locked[place] ?? {};
    if (locked[place] !== undefined) return link === true ? resolved : place;
    if (folder === '') throw new Error(`${from} wants ${name}, which is not in the lock file.`);
  }
}

/** A package and everything that is installed with it. Optional packages are skipped where they do not fit; the installation goes on. */
function installedWith(place: string, known: Set<string> = new Set()): ReadonlySet<string> {
  if (known.has(place)) return known;
  known.add(place);
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = locked[place] ?? {};
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  for (const name of [...Object.keys(dependencies), ...peers]) installedWith(findInstalled(place, name), known);
  return known;
}

/** Whether a range such as `>=22.19`, `20 || >=22` or `^18` allows a version. */
function takes(range: string, version: readonly number[]): boolean {
  return range.split('||').some((one) => {
    const [, sign, ...parts] = /^\s*(>=|\^)?\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.x)?\s*$/.exec(one) ?? [];
    if (parts[0] === undefined) throw new Error(`The range ${range} cannot be read.`);
    const floor = parts.map((part) => Number(part ?? 0));
    const isAtLeast = compare(version, floor) >= 0;
    return sign === '>=' ? isAtLeast : isAtLeast && version[0] === floor[0];
  });
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** The oldest version of Node that a package declares. */
function oldestOf(place: string): readonly number[] {
  const [, major, minor = 0] = /^>=(\d+)(?:\.(\d+))?$/.exec(locked[place]?.engines?.node ?? '') ?? [];
  return [Number(major), Number(minor), 0];
}

test.each(PACKAGES)(
  '[S14] no package that is installed with packages/%s needs a newer Node than it declares',
  async (name) => {
    const place = `packages/${name}`;
    const { engines } = JSON.parse(await readFile(join(repository, place, 'package.json'), 'utf8'));
    expect(locked[place]?.engines).toEqual(engines);
    const nodes = [oldestOf(place), [22, 19, 0], [24, 0, 0], [26, 0, 0]].filter(
      (node) => compare(node, oldestOf(place)) >= 0,
    );
    const refusals = [...installedWith(place)].flatMap((one) => {
      const wanted = locked[one]?.engines?.node;
      return nodes.flatMap((node) =>
        wanted === undefined || takes(wanted, node) ? [] : [`${one} wants ${wanted}, not ${node.join('.')}`],
      );
    });
    expect(refusals).toEqual([]);
  },
);

test.each(['cli', 'create'])(
  '[S18] the program of packages/%s refuses every Node that its package does not support',
  async (name) => {
    const [major, minor] = oldestOf(`packages/${name}`);
    const program = await readFile(join(repository, `packages/${name}/src/bin.ts`), 'utf8');
    expect(program).toContain(`major < ${major} || (major === ${major} && minor < ${minor})`);
    expect(program).toContain(`Lastcall needs Node ${major}.${minor} or later`);
  },
);
