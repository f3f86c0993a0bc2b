import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Loads the configuration and what it imports. In a folder made by `npm init -y`, package.json says that all files are
 * CommonJS, and a `lastcall.config.ts` with `import` and `export` could not be loaded. So a file that is written as a
 * module is loaded as one. `onLoad` is called with every loaded file that does not belong to a package.
 */
export function hookModules(onLoad: (file: string) => void = () => {}): void {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith('file:') || url.includes('/node_modules/')) return nextLoad(url, context);
      const file = fileURLToPath(url);
      onLoad(file);
      const { format } = context;
      const isModule = format?.startsWith('commonjs') === true && isWrittenAsModule(file);
      return nextLoad(url, isModule ? { ...context, format: format.replace('commonjs', 'module') } : context);
    },
  });
}

function isWrittenAsModule(file: string): boolean {
  return /\.(ts|js)$/.test(file) && /^(import\s*["'{*]|import\s+\w|export\s)/m.test(readFileSync(file, 'utf8'));
}
