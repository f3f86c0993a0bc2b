import { type Browser, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { chromePath } from './chrome-path.ts';

/** A real Chromium for the tests of a file. Web security is on: the page's policy must hold. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await playwright.launch({
      executablePath: await chromePath(),
      args: ['--no-sandbox', '--headless=shell'],
    });
  });
  afterAll(async () => await browser?.close());
  return () => {
    if (browser === undefined) throw new Error('The browser is not there before the tests run.');
    return browser;
  };
}
