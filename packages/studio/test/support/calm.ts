import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until no agent is at work. While they write, cards move, and what has just moved takes no click. */
export async function calm(page: Page): Promise<void> {
  await page.getByText('is at work').first().waitFor({ state: 'hidden' });
}

/** Clicks a button of a card as a person does: once it is in sight and has been still for a while. */
export async function clickStill(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  // By then the page knows that it has moved.
  await button.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      ),
  );
  await expect.poll(() => button.getAttribute('aria-disabled')).toBe('false');
  await button.click();
}

/** Clicks until what the button opens is there. A message that comes at that moment moves the card away from under the click. */
export async function clickUntil(button: Locator, opened: Locator): Promise<void> {
  await expect
    .poll(async () => {
      if ((await opened.count()) === 0 && (await button.count()) > 0) await button.click();
      return await opened.count();
    })
    .toBe(1);
}
