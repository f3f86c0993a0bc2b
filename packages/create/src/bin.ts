#!/usr/bin/env node
// Nothing is imported before the version is checked: an old Node would create a folder that it cannot run.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Lastcall needs Node 22.19 or later, and this is Node ${process.versions.node}. Nothing was written. Install a newer one from https://nodejs.org, or run: npx -y -p node@24 -p create-lastcall create-lastcall\n`,
  );
  process.exitCode = 1;
} else {
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

export {};
