import { type Browser, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';

/** A connection to the Chromium that all test files share. What it opens is closed at the end of the file. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await playwright.connect(inject('browserEndpoint'));
  });
  afterAll(async () => await browser?.close());
  return () => {
    if (browser === undefined) throw new Error('The browser is not there before the tests run.');
    return browser;
  };
}
