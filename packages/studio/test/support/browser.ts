import { type Browser, chromium as playwright } from 'playwright-core';
import { afterEach, beforeAll, inject } from 'vitest';
import { closeOthers } from './pages.ts';

/** A worker connects once for all its files, so that the browser need not load files again for the next test. */
const shared = globalThis as { lastcallTestBrowser?: Promise<Browser> };

/** A connection to the Chromium that all test files share. Pages that a test opens are closed when it ends. */
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
