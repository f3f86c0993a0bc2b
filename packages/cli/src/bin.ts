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
  // In `lastcall audit --jsonl | head`, the reader has enough and closes the pipe. That is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  // What is printed there only accompanies the work, which goes on.
  process.stderr.on('error', () => {});
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

export {};
