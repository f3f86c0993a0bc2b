import { createRequire } from 'node:module';

/** The version of this package. Its manifest is two folders up from here, and from the chunks of the bundle. */
export const VERSION: string = (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
