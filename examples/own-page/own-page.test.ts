import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromePath } from '../browser.ts';
import type { ServedPage } from '../serve-page.ts';
import { startDesk } from './start.ts';

let browser: Browser;
let example: ServedPage;

beforeAll(async () => {
  [browser, example] = await Promise.all([
    playwright.launch({ executablePath: await chromePath(), args: ['--no-sandbox', '--headless=shell'] }),
    startDesk({ port: 0 }),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await example?.stop();
});

async function ask(page: Page, ticket: string, text: string): Promise<void> {
  await page.getByRole('button', { name: ticket }).click();
  await page.getByRole('heading', { name: ticket }).waitFor();
  await page.getByLabel('Write to the ticket').fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).last().click();
}

test('[S21] [S10] a support desk in one file approves only what was shown, edits, allows, asks by form or yes/no, and two tabs agree', async () => {
  const [page, other] = [await browser.newPage(), await browser.newPage()];
  const problems: string[] = [];
  page.on('pageerror', (error) => void problems.push(error.message));
  for (const one of [page, other]) await one.goto(example.url);

  await ask(page, 'Late parcel', 'I want my money back.');
  const refund = page.getByRole('region', { name: 'refund' });
  await refund.getByText('Amount euros').waitFor();
  await refund.getByText('In euros.').waitFor();
  const approve = refund.getByRole('button', { name: 'Approve' });
  expect(await approve.isDisabled()).toBe(true);
  await refund.getByText('Approve is off until you have opened all of the input: 1 part is closed.').waitFor();
  await refund.getByText(/^Show all 1,\d+ characters$/).click();
  await refund.getByText('Yours, the support desk').waitFor();
  // The amount is changed before it is approved, and the change is shown beside what was asked.
  await refund.getByRole('button', { name: 'Edit …' }).click();
  expect(await refund.getByRole('button', { name: 'Approve this' }).isDisabled()).toBe(true);
  await refund.getByLabel('Amount').fill('30');
  expect(await refund.locator('del').textContent()).toBe('40');
  expect(await refund.locator('ins').textContent()).toBe('30');
  await refund.getByRole('button', { name: 'Approve this' }).click();
  for (const one of [page, other]) {
    await one.getByRole('button', { name: 'Late parcel' }).click();
    await one.getByText('Paid 30 euros back for A-17.').waitFor();
  }

  await ask(page, 'New address', 'Send it to my other address.');
  const address = page.getByRole('region', { name: 'ask_address' });
  await address.getByText('Where does the parcel go now?').waitFor();
  // The list of tickets in the other tab shows it too.
  await other.getByRole('button', { name: 'New address 1 waiting' }).waitFor();
  expect(await address.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  await address.getByLabel('Street').fill('Long Road 1');
  await address.getByLabel('City').fill('Oslo');
  await address.getByLabel('floor').fill('3');
  await address.getByRole('button', { name: 'Send' }).click();
  await address.getByText('Long Road 1').waitFor();
  await expect.poll(() => address.getAttribute('data-status')).toBe('complete');

  // The first parcel is approved with all later ones, so the second one is sent without a question.
  await ask(page, 'Lost parcels', 'Please send them again.');
  const resend = page.getByRole('region', { name: 'resend' });
  await resend.getByRole('button', { name: 'Allow more …' }).click();
  expect(await resend.getByRole('button', { name: 'Approve and allow' }).isDisabled()).toBe(true);
  await resend.getByLabel('For one hour').check();
  await resend.getByLabel('order: B-2').uncheck();
  await resend.getByRole('button', { name: 'Approve and allow' }).click();
  await page.getByText('Sent B-2 again.').waitFor();
  await page.getByText('Sent B-3 again.').waitFor();
  expect(await page.locator('[data-card="resend"][data-status="complete"]').count()).toBe(2);

  await ask(page, 'Complaint', 'They complain.');
  const manager = page.getByRole('region', { name: 'ask_manager' });
  await manager.getByRole('button', { name: 'No' }).click();
  await expect.poll(() => manager.getAttribute('data-status')).toBe('complete');
  expect(problems).toEqual([]);
});
