#!/usr/bin/env node
import { createProject, ProjectRefused } from './create-project.ts';

const [folder = '.', ...rest] = process.argv.slice(2);

if (folder === '--help' || folder === '-h' || rest.length > 0) {
  process.stdout.write(
    'Usage: npm create lastcall [folder]\n\nMakes a folder with an agent, two tools and a test of them.\n',
  );
  process.exitCode = rest.length > 0 ? 2 : 0;
} else {
  try {
    const { next } = await createProject(folder);
    process.stdout.write(`${next}\n`);
  } catch (error) {
    if (!(error instanceof ProjectRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
