#!/usr/bin/env node
// Nothing is imported before the version is checked: an old Node would fail at the first import, with a stack trace.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Lastcall needs Node 22.19 or later, and this is Node ${process.versions.node}. Install a newer one from https://nodejs.org, or run: npx -y -p node@24 -p lastcall lastcall\n`,
  );
  process.exitCode = 1;
} else {
  // The experimental features that are used here work on every supported version of Node, so their warnings are not
  // shown.
  const [printWarning] = process.listeners('warning');
  process.removeAllListeners('warning').on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') printWarning?.(warning);
  });
  // The next start loads what this one compiled, which saves a gateway an eighth of its time. The folder is the user's own, because what is in
  // it is run.
  const home = process.env.HOME ?? process.env.USERPROFILE;
  const cache = process.env.XDG_CACHE_HOME ?? (home === undefined ? undefined : `${home}/.cache`);
  const { enableCompileCache } = await import('node:module');
  if (cache !== undefined) enableCompileCache(`${cache}/lastcall/compiled`);
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

export {};
