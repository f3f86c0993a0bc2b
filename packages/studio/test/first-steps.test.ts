import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio(browser(), {});
});
afterAll(async () => await studio[Symbol.asyncDispose]());

test('[S8] a gateway without agents and tools shows how to create them, with working examples', async () => {
  const { page, problems } = await studio.open('/agents');
  await page.getByRole('button', { name: 'rehearsal' }).click();
  await page.getByText('No real model is set up.').waitFor();
  await page.getByText(/Set ANTHROPIC_API_KEY/).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('No agent yet.').waitFor();
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('heading', { name: 'Concierge' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('none: no one can talk to it yet.').waitFor();
  const space = await studio.gateway.api('/api/spaces', { name: 'Lobby' });
  await page.reload();
  await page.getByLabel('Add it to a space').selectOption('Lobby');
  await page.getByRole('link', { name: 'Lobby' }).waitFor();
  expect((await studio.gateway.api(`/api/spaces/${space.id}/members`)).items).toHaveLength(1);

  await page.getByRole('link', { name: 'Inbox' }).last().click();
  await page.getByRole('button', { name: 'Send an event' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send an event to Concierge' });
  await dialog.getByLabel('Data').fill('{ "order": ');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('This is not JSON').waitFor();
  await dialog.getByLabel('Data').fill('{ "order": 7 }');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await page.getByText('order.paid from studio').waitFor();
  await page.getByRole('link', { name: 'Runs' }).last().click();
  await page.getByRole('list', { name: 'Runs' }).getByRole('link').first().waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByText('Only the built-in tools so far.').waitFor();
  await page.getByRole('button', { name: 'Create tool' }).click();
  await page.getByRole('heading', { name: 'exchange_rate' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  // The list has to exist before a key can move in it.
  await page.getByRole('list', { name: 'Tools' }).getByRole('link', { name: 'exchange_rate' }).waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('exchange_rate');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'exchange_rate' }).waitFor();
  expect(problems).toEqual([]);
});

test('[S8] wrong keys are refused with a readable error, and too many of them say how long to wait', async () => {
  const page = await (await browser().newContext({ viewport: { width: 380, height: 700 } })).newPage();
  await page.goto(`${studio.gateway.url}/runs`);
  await page.getByRole('heading', { name: 'Sign in to Lastcall' }).waitFor();
  const field = page.getByLabel('Secret key');
  const button = page.getByRole('button', { name: /Sign in|Try again/ });
  await field.fill('lc_sk_wrong');
  await button.click();
  await page.getByText('Did you copy the whole key?').waitFor();
  // The operator may have chosen another one.
  await page.getByText('the key in LASTCALL_SECRET_KEY may be any text').waitFor();
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
