/// <reference lib="dom" />
import type { Page } from 'playwright-core';

/**
 * Measures in the page, from the navigation to the first frame after an element is visible. Playwright itself looks for an element only
 * every half second after the first few times, so its `waitFor` is of no use here.
 */
export async function watchFirstSeen(page: Page, what: { selector: string; text?: string }): Promise<void> {
  await page.addInitScript(({ selector, text = '' }) => {
    const isSeen = (element: Element): boolean =>
      (element.textContent ?? '').includes(text) && element.getBoundingClientRect().height > 0;
    const look = (): void => {
      if (![...document.querySelectorAll(selector)].some(isSeen)) requestAnimationFrame(look);
      // The frame in which it was found is drawn before the next one begins.
      else requestAnimationFrame((at) => Object.assign(globalThis, { seenMs: at }));
    };
    requestAnimationFrame(look);
  }, what);
}

/** Milliseconds since the navigation. */
export async function firstSeenMs(page: Page): Promise<number> {
  await page.waitForFunction(() => 'seenMs' in globalThis);
  return await page.evaluate(() => (globalThis as unknown as { seenMs: number }).seenMs);
}
