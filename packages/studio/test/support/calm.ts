import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until no agent is at work. While they write, cards move, and what has just moved takes no click. */
export async function calm(page: Page): Promise<void> {
  await page.getByText('is at work').first().waitFor({ state: 'hidden' });
}

/** Clicks a button of a card as a person does: once it is in sight and has been still for a while. */
export async function clickStill(button: Locator): Promise<void> {
  await untilStill(button);
  await button.click();
}

/** Waits until a card is in sight and has been still for a while. `button`: one that is dead until then. */
export async function untilStill(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  // By then the page knows that it has moved.
  await button.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      ),
  );
  await expect.poll(() => button.getAttribute('aria-disabled')).toBe('false');
}
