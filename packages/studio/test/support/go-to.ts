import type { Page } from 'playwright-core';

/** Goes to another page of the studio like a link, because loading the studio again would take most of the time. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => history.pushState({}, '', to), path);
}
