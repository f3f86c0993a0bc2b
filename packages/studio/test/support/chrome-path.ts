import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import chromium from '@sparticuz/chromium';

/** The headless shell comes first, because it takes half the processor time of the whole browser. */
const NAMES = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'chrome',
];
const MISSING =
  'The browser tests need Chromium. The one from npm runs on Linux with an x64 processor only. ' +
  'Install Chromium or Chrome and set CHROME_PATH to its program.';

let found: Promise<string> | undefined;

/**
 * The Chromium that the tests run: the one that CHROME_PATH names, else the one from npm, which exists for Linux on x64 alone,
 * else an installed one. On Debian, root installs it: a container for tests has nothing but Node and npm.
 */
export function chromePath(): Promise<string> {
  found ??= findChrome();
  return found;
}

async function findChrome(): Promise<string> {
  if (process.env.CHROME_PATH !== undefined) return process.env.CHROME_PATH;
  if (process.platform === 'linux' && process.arch === 'x64') return await chromium.executablePath();
  return installedChrome() ?? installChromium();
}

function installedChrome(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

function installChromium(): string {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error(MISSING);
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  execFileSync('apt-get', ['update', '-qq'], options);
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium-headless-shell'], options);
  const path = installedChrome();
  if (path === undefined) throw new Error(MISSING);
  return path;
}
