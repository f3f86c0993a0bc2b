import type { Browser, Page } from 'playwright-core';

const PATIENCE_MS = 60_000;

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
}

interface Taken {
  /** The address of its gateway. */
  readonly url: string;
  readonly isNew: boolean;
}

/** Pages that a test has returned and the next may use. */
const left = new WeakMap<Browser, Page[]>();
/** Pages that tests use now. */
const taken = new Map<Page, Taken>();

/**
 * A clean page: no cookies, no stored data, no open page. Unless it has to be new, it is one that an earlier test has returned,
 * if there is one: its loaded and compiled code is still cached, which saves half of the time to open a page.
 *
 * @param purpose - `isNew` is for a test that adds scripts to the page, which cannot be removed again. No other test gets
 * such a page.
 */
export async function takePage(browser: Browser, purpose: Taken, { width, height, theme }: Look): Promise<Page> {
  const page = (purpose.isNew ? undefined : left.get(browser)?.pop()) ?? (await newPage(browser));
  taken.set(page, purpose);
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: null, forcedColors: null, media: null });
  return page;
}

/** Takes the pages of a gateway back from tests: before it stops, or when a test has ended. */
export async function leavePages(browser: Browser, url: string): Promise<void> {
  for (const [page, purpose] of taken) if (purpose.url === url) await leave(browser, page, purpose);
}

/** Takes all pages back, and closes what else is open. */
export async function closeOthers(browser: Browser): Promise<void> {
  for (const [page, purpose] of taken) await leave(browser, page, purpose);
  const kept = new Set(left.get(browser)?.map((page) => page.context()));
  for (const context of browser.contexts()) if (!kept.has(context)) await context.close();
}

async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_200, height: 800 }, colorScheme: 'light' });
  // Long, because the machine may be busy. If something never appears, the test's own timeout reports it.
  context.setDefaultTimeout(PATIENCE_MS);
  return await context.newPage();
}

async function leave(browser: Browser, page: Page, { url, isNew }: Taken): Promise<void> {
  taken.delete(page);
  if (page.isClosed()) return;
  const context = page.context();
  if (isNew) return await context.close();
  try {
    for (const event of ['console', 'pageerror', 'request', 'response', 'dialog'] as const)
      await page.removeAllListeners(event, { behavior: 'ignoreErrors' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    for (const other of context.pages()) if (other !== page) await other.close();
    await context.setOffline(false);
    // A file without scripts on the same host: for another host the browser would start a new process for the page.
    await page.goto(`${url}/icon.svg`);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearPermissions();
    await context.clearCookies();
    left.set(browser, [...(left.get(browser) ?? []), page]);
  } catch {
    // Its gateway is gone, or the test broke it: the next test gets another one.
    await context.close();
  }
}
