import { type Browser, chromium as playwright } from 'playwright-core';
import { afterEach, beforeAll, inject } from 'vitest';
import { closeOthers } from './pages.ts';

/** A worker connects once, for all its files: what a browser has loaded for one test it need not load for the next. */
const shared = globalThis as { lastcallTestBrowser?: Promise<Browser> };

/** A connection to the Chromium that all test files share. What a test opens is closed when it ends. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    shared.lastcallTestBrowser ??= playwright.connect(inject('browserEndpoint'));
    browser = await shared.lastcallTestBrowser;
  });
  afterEach(async () => {
    if (browser !== undefined) await closeOthers(browser);
  });
  return () => {
    if (browser === undefined) throw new Error('The browser is not there before the tests run.');
    return browser;
  };
}
