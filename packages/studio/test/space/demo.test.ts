import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { calm, clickStill, untilStill } from '../support/calm.ts';
import { useStudios } from '../support/studio.ts';

const browser = useBrowser();
const studios = useStudios(browser);

const logOf = (page: Page): Locator => page.getByRole('log', { name: 'Messages' });
const card = (page: Page, name: string | RegExp): Locator => page.getByRole('region', { name });
const say = async (page: Page, text: string): Promise<void> => {
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill(text);
  await field.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('');
};
const goTo = async (page: Page, space: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Spaces' }).click();
  await page.getByRole('main').getByRole('link', { name: space }).click();
  await page.getByRole('heading', { name: space }).waitFor();
};

const title =
  '[S1] [S2] [S3] the demo opens with a space: sentences to click, a call with its result, a booking that is confirmed first';

test(title, async () => {
  const { page, problems } = await studios.sqlite().open('/');
  await page.getByRole('heading', { name: 'Travel desk' }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'What is the weather in Tokyo?' }).click();
  await logOf(page).getByText('I called fetch_weather').waitFor();
  await logOf(page).getByText('ok', { exact: true }).waitFor();
  await logOf(page).getByText('city: Tokyo, forecast: rainy, celsius: 16').waitFor();

  await say(page, 'Book a hotel in Tokyo for 3 nights, please.');
  const question = card(page, /^confirm_booking, waits/);
  await logOf(page).getByText('Concierge has it').waitFor();
  await question.getByText(/h left$/).waitFor();
  await question.getByText('anyone here may answer').waitFor();
  // The count next to the inbox changes at once, without waiting for the next poll.
  await page.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
  await calm(page);
  await clickStill(question.getByRole('button', { name: 'Yes' }));
  await card(page, /^confirm_booking, done/)
    .getByText('Ada,')
    .waitFor();
  await logOf(page).getByText('Ada said yes. I called book_hotel').waitFor();
  await expect.poll(() => page.getByRole('link', { name: /^Inbox/ }).textContent()).toBe('Inbox');
  // Agents at work are shown with their run; now none is.
  await expect.poll(() => page.getByText('is at work').count()).toBe(0);
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test('[S2] [S3] a payment is approved with another amount, denied with a reason; a call that fails half-way leaves nothing', async () => {
  const { page, problems } = await studios.postgres().open('/', { theme: 'dark' });
  await goTo(page, 'Accounts');
  await page.getByRole('button', { name: 'Pay invoice 4711, amount 120.' }).click();
  const payment = card(page, /^pay_invoice, waits/);
  await payment.waitFor();
  await calm(page);
  await untilStill(payment.getByRole('button', { name: 'Approve' }));
  await payment.getByRole('button', { name: 'Edit …' }).click();
  await payment.getByRole('textbox', { name: 'Amount' }).fill('20000');
  await payment.getByRole('button', { name: 'Compare …' }).click();
  // The error is shown at the field, and nothing was sent.
  await expect.poll(() => payment.getByRole('textbox', { name: 'Amount' }).getAttribute('aria-invalid')).toBe('true');
  await payment.getByRole('textbox', { name: 'Amount' }).fill('90');
  await payment.getByRole('button', { name: 'Compare …' }).click();
  await payment.getByRole('row', { name: 'amount 120 90 changed' }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await clickStill(payment.getByRole('button', { name: 'Approve this' }));
  const paid = card(page, /^pay_invoice, done/);
  await paid.getByText('Approved with changes').waitFor();
  await paid.getByText('"paid": "90 EUR"').waitFor();

  await say(page, 'Pay invoice 12, amount 5.');
  const other = card(page, /^pay_invoice, waits/);
  await other.waitFor();
  await calm(page);
  await untilStill(other.getByRole('button', { name: 'Approve' }));
  await other.getByRole('button', { name: 'Deny …' }).click();
  const deny = other.getByRole('button', { name: 'Deny', exact: true });
  expect(await deny.getAttribute('aria-disabled')).toBe('true');
  await other.getByRole('textbox', { name: 'Why not?' }).fill('It was paid in May.');
  await clickStill(deny);
  await card(page, /^pay_invoice, cancelled/)
    .getByText('Denied: It was paid in May.')
    .waitFor();
  await logOf(page).getByText('Ada denied pay_invoice: It was paid in May.').waitFor();

  await say(page, 'Import the receipts of October.');
  await page.getByRole('status').filter({ hasText: 'Clerk is at work' }).getByRole('link', { name: 'run' }).waitFor();
  await logOf(page)
    .getByText(/receipt \d of 4/)
    .waitFor();
  await logOf(page).getByText('no changes remain').waitFor();
  await logOf(page).getByText('I called import_receipts, and it failed').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test('[S3] a form made from a schema is checked before it is sent; an analyst ends with the tool that files its report', async () => {
  const studio = studios.sqlite();
  const { page, problems } = await studio.open('/', { width: 380, height: 760 });
  await goTo(page, 'Accounts');
  await say(page, 'Add a supplier.');
  const form = card(page, /^add_supplier, waits/);
  await form.waitFor();
  await calm(page);
  await clickStill(form.getByRole('button', { name: 'Send' }));
  await expect
    .poll(() => form.getByRole('textbox', { name: 'Name', exact: true }).getAttribute('aria-invalid'))
    .toBe('true');
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Oslo Paper');
  await form.getByRole('combobox', { name: 'Country' }).selectOption({ label: 'Norway' });
  expect(await accessibilityProblems(page)).toEqual([]);
  // Nothing is wider than the screen.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
  await calm(page);
  await clickStill(form.getByRole('button', { name: 'Send' }));
  await card(page, /^add_supplier, done/)
    .getByText('Ada,')
    .waitFor();
  // The list does not scroll away from a form that is being filled in while others write.
  await logOf(page).press('End');
  await logOf(page).getByText('Ada answered add_supplier').waitFor();
  // Ben has not been here, so all messages are new for him, and none after he has seen them.
  const { page: bens } = await studio.open('/spaces', { as: 'Ben', scopes: [] });
  await bens
    .getByRole('main')
    .getByText(/^\d+ new$/)
    .waitFor();
  await bens.getByRole('link', { name: 'Accounts' }).click();
  await logOf(bens).waitFor();
  await expect
    .poll(async () => {
      const [{ unread }] = (await studio.gateway.api(`/api/spaces?entityId=${await studio.person('Ben')}`)).items;
      return unread;
    })
    .toBe(0);
  await goTo(page, 'Research');
  await page.getByRole('button', { name: 'Report on the weather in Tokyo.' }).click();
  await logOf(page).getByText('file_report').waitFor();
  await expect.poll(() => logOf(page).getByText('ok', { exact: true }).count()).toBe(2);
  expect(problems).toEqual([]);
});
