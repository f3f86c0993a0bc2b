import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S8] wrong keys are refused in words, and too many of them say how long to wait', async () => {
  await using studio = await startStudio(browser(), {});
  const page = await (await browser().newContext({ viewport: { width: 380, height: 700 } })).newPage();
  await page.goto(`${studio.gateway.url}/runs`);
  await page.getByRole('heading', { name: 'Sign in to Lastcall' }).waitFor();
  const field = page.getByLabel('Secret key');
  const button = page.getByRole('button', { name: /Sign in|Try again/ });
  await field.fill('lc_sk_wrong');
  await button.click();
  await page.getByText('Was all of the key copied?').waitFor();
  for (let attempt = 0; attempt < 10; attempt++) {
    const answered = page.waitForResponse('**/api/session');
    await button.click();
    await answered;
    await expect.poll(() => button.textContent()).not.toBe('Signing in …');
  }
  await page.getByText('Too many tries.').waitFor();
  await page.getByText('Nothing is locked: wait until the time is over').waitFor();
  expect(await button.textContent()).toMatch(/^Try again in \d+ s$/);
  expect(await button.isDisabled()).toBe(true);
});
