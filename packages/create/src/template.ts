import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Commands } from './folder-plan.ts';
import type { Release } from './package-json.ts';
import type { Sample } from './sample.ts';

// By the package's name, because the bundle of this file lies elsewhere.
const MANIFEST = createRequire(import.meta.url).resolve('create-lastcall/package.json');

/** The contents of the template's files by name. */
export async function readTemplate(): Promise<ReadonlyMap<string, string>> {
  const folder = join(dirname(MANIFEST), 'template');
  const texts = new Map<string, string>();
  // npm leaves `.gitignore` out of packages, so the template's file has another name.
  for (const name of await readdir(folder))
    texts.set(name === 'gitignore' ? '.gitignore' : name, await readFile(join(folder, name), 'utf8'));
  return texts;
}

/**
 * Reads this package's manifest. All packages of Lastcall have the same version, and those that a folder needs run on
 * the same Node.
 */
export async function readRelease(): Promise<Release> {
  return JSON.parse(await readFile(MANIFEST, 'utf8')) as Release;
}

/** The README with this folder's commands and file names. */
export function readmeText(template: string, { start, dev, test }: Commands, { config, tools }: Sample): string {
  return template
    .replaceAll('`npm start`', `\`${start}\``)
    .replaceAll('`npm run dev`', `\`${dev}\``)
    .replaceAll('`npm test`', `\`${test}\``)
    .replaceAll('`lastcall.config.ts`', `\`${config}\``)
    .replaceAll('`tools.ts`', `\`${tools}\``);
}

export function envText(): string {
  return `# The secret key of your gateway. Commands such as "npx lastcall tools test" read it here, too.
LASTCALL_SECRET_KEY=${randomBytes(24).toString('hex')}

# Without a key of a provider, agents use the rehearsal, which follows simple rules. To use a real model, install its
# package (npm install @ai-sdk/anthropic) and set its key:
# ANTHROPIC_API_KEY=
`;
}
