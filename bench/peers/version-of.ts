import { readFileSync } from 'node:fs';

/** A peer's name and its installed version. */
export function versionOf(name: string): string {
  const file = new URL(`./node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `${name} ${version}`;
}
