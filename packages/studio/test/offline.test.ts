import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S8] [S9] a page that is opened while the gateway does not respond says so, and appears once the gateway responds', async () => {
  await using studio = await startStudio(browser());
  // Another page could have its files in the browser's cache.
  const { page } = await studio.open('/inbox', { isNew: true });
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByText('This page was not loaded.').waitFor();
  expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true);
  await page.context().setOffline(false);
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  await page.getByRole('link', { name: 'Concierge' }).first().waitFor();
});

test('[S8] the palette opens while the gateway does not respond', async () => {
  await using studio = await startStudio(browser());
  const { page } = await studio.open('/inbox', { isNew: true });
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.context().setOffline(true);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Search pages/ }).fill('theme dark');
  await page.getByRole('option', { name: /^Theme dark/ }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
});

test('[S9] a page without a stream says that the gateway does not respond, until it does', async () => {
  await using studio = await startStudio(browser());
  const { page } = await studio.open('/inbox', { isNew: true });
  await page.getByText('Nothing is waiting for you.').waitFor();
  await page.context().setOffline(true);
  const offline = page.getByRole('status').filter({ hasText: /^offline since .*, reconnecting$/ });
  await offline.waitFor();
  await page.context().setOffline(false);
  await offline.waitFor({ state: 'detached' });
});

test('[S8] a gateway on this computer is used while the browser has no network', async () => {
  await using studio = await startStudio(browser());
  const { page, problems } = await studio.open('/inbox', { isNew: true });
  await page.getByText('Nothing is waiting for you.').waitFor();
  await page.evaluate(() => window.dispatchEvent(new Event('offline')));
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('link', { name: 'Concierge' }).first().waitFor();
  expect(problems).toEqual([]);
});
