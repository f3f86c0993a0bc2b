import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PLANTS, UNFOUND_PLANTS } from './plants.ts';

const PACKAGES = join(import.meta.dirname, '../../..');

const KNOWN = [...PLANTS, ...UNFOUND_PLANTS];

/** From now on, this file is loaded with the mistake. Call it before the file is imported. */
export function plant(name: string): void {
  const found = KNOWN.find((one) => one.name === name);
  if (found === undefined)
    throw new Error(`There is no planted fault "${name}". Known: ${KNOWN.map((one) => one.name).join('; ')}.`);
  const address = pathToFileURL(join(PACKAGES, found.file)).href;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== address) return loaded;
      const source = String(loaded.source);
      const parts = source.split(found.find);
      if (parts.length !== 2)
        throw new Error(
          `The text of "${name}" occurs ${parts.length - 1} times in ${found.file}, and must occur once.`,
        );
      return { ...loaded, source: parts.join(found.replace) };
    },
  });
}
