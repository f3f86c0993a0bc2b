import type { Page } from 'playwright-core';

/** Waits until no agent is at work. While they write, cards move, and what has just moved takes no click. */
export async function calm(page: Page): Promise<void> {
  await page.getByText('is at work').first().waitFor({ state: 'hidden' });
}
