// All packages have one version and are released together.
//   node scripts/release.js version 0.2.0      sets the version of every package, and what they want of each other
//   node scripts/release.js publish --to out   packs every package into a folder and publishes them from there
// With --dry-run, `publish` checks and packs all the same, and npm sends nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
// In the order of publishing: nothing is published before what it needs.
const FOLDERS = ['core', 'machines', 'studio', 'gateway', 'client', 'create', 'cli'].map((name) =>
  join(repository, 'packages', name),
);
const DEPENDENCIES = ['dependencies', 'peerDependencies'];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false }, to: { type: 'string', default: 'dist/release' } },
});
const [command, version] = positionals;
if (command === 'version' && /^\d+\.\d+\.\d+$/.test(version ?? '')) setVersion(version);
else if (command === 'publish') publish({ isDry: values['dry-run'], to: resolve(values.to) });
else fail('Usage: node scripts/release.js version <x.y.z> | publish [--dry-run] [--to <folder>]');

function setVersion(version) {
  const own = new Set(FOLDERS.map((folder) => manifestOf(folder).name));
  for (const folder of FOLDERS) {
    const manifest = manifestOf(folder);
    manifest.version = version;
    for (const kind of DEPENDENCIES)
      for (const name of Object.keys(manifest[kind] ?? {})) if (own.has(name)) manifest[kind][name] = version;
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  }
  npm(['install', '--package-lock-only', '--no-audit', '--no-fund']);
  console.log(`All packages are ${version} now. Write its section of CHANGELOG.md, commit, and tag v${version}.`);
}

function publish({ isDry, to }) {
  const manifests = FOLDERS.map(manifestOf);
  check(manifests, { isDry });
  mkdirSync(to, { recursive: true });
  npm(['pack', '--pack-destination', to, ...FOLDERS]);
  for (const manifest of manifests) {
    const tarball = join(to, tarballOf(manifest));
    if (isDry) console.log(`Would publish ${manifest.name} ${manifest.version}: ${tarball}`);
    else npm(['publish', tarball, '--access', 'public']);
  }
}

/** Throws nothing half-way: what is wrong is said before the first package is published. */
function check(manifests, { isDry }) {
  const versions = new Map(manifests.map(({ name, version }) => [name, version]));
  const [current] = versions.values();
  for (const { name, version, ...manifest } of manifests) {
    if (version !== current) fail(`${name} is ${version}, and the others are ${current}: run the command version.`);
    for (const kind of DEPENDENCIES)
      for (const [needed, wanted] of Object.entries(manifest[kind] ?? {}))
        if (versions.has(needed) && wanted !== current) fail(`${name} wants ${needed} ${wanted}, not ${current}.`);
  }
  const changes = readFileSync(join(repository, 'CHANGELOG.md'), 'utf8');
  const section = changes.split(/^## /m).find((text) => text.startsWith(`${current}\n`));
  if (section === undefined) fail(`CHANGELOG.md has no section "## ${current}".`);
  if (isDry) return;
  if (section.includes('Not released yet')) fail(`CHANGELOG.md says that ${current} is not released yet.`);
  const status = execFileSync('git', ['status', '--porcelain'], { cwd: repository, encoding: 'utf8' });
  if (status !== '') fail(`There are changes that are not committed:\n${status}`);
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** The name that `npm pack` gives it. */
function tarballOf({ name, version }) {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

function npm(args) {
  execFileSync('npm', args, {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
