import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until no agent is at work. While they write, cards move, and a card that has just moved ignores clicks. */
export async function calm(page: Page): Promise<void> {
  await page.getByText('is at work').first().waitFor({ state: 'hidden' });
}

/** Clicks a button of a card as a person does: once it is visible and has not moved for some time. */
export async function clickStill(button: Locator): Promise<void> {
  await untilStill(button);
  await button.click();
}

/** Waits until a card is visible and has not moved for some time. `button`: one that is disabled until then. */
export async function untilStill(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  // After three frames the page has noticed that the card has moved.
  await button.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      ),
  );
  await expect.poll(() => button.getAttribute('aria-disabled')).toBe('false');
}
