import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromePath } from './chrome-path.ts';

declare module 'vitest' {
  interface ProvidedContext {
    browserEndpoint: string;
  }
}

/** The tests see what users get: the built studio, in a real Chromium. The studio is built when a source is newer. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const build = join(import.meta.dirname, '..', '..', 'scripts', 'build.ts');
  const building = once(spawn(process.execPath, [build, '--if-newer'], { stdio: 'inherit' }), 'exit');
  // One browser for all files: to start one takes longer than most tests. Web security is on, because the page's policy must hold.
  const [[code], browser] = await Promise.all([building, startBrowser()]);
  if (code !== 0) throw new Error('The studio could not be built.');
  project.provide('browserEndpoint', browser.wsEndpoint());
  return () => browser.close();
}

async function startBrowser(): ReturnType<typeof playwright.launchServer> {
  const executablePath = await chromePath();
  // Workers have another folder for temporary files, and would unpack Chromium again.
  process.env.CHROME_PATH = executablePath;
  // Without a GPU, Chromium emulates one, which takes a tenth of the processor time of these tests.
  return await playwright.launchServer({ executablePath, args: ['--no-sandbox', '--headless=shell', '--disable-gpu'] });
}
