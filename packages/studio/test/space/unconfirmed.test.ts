import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S9] a message whose answer was lost is posted once, also if it is sent again after the page was left', async () => {
  await using studio = await startStudio(browser());
  const { api } = studio.gateway;
  const [{ id }] = (await api('/api/spaces')).items;
  const { page } = await studio.open(`/spaces/${id}`);
  const entityId = await studio.person('Ada');
  // The gateway gets the message, and its answers are lost.
  await page.route('**/messages', async (route) => {
    if (route.request().method() !== 'POST') return await route.continue();
    await api(`/api/spaces/${id}/messages`, { entityId, ...route.request().postDataJSON() });
    await route.abort();
  });
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Hello once.');
  await field.press('Enter');
  await page.getByText('Send it again unchanged: it is posted once.').waitFor();
  await page.unroute('**/messages');
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe('Hello once.');
  await field.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('');
  const { items } = await api(`/api/spaces/${id}/messages?limit=100`);
  expect(items.filter(({ text }: { text: string }) => text === 'Hello once.')).toHaveLength(1);
});

test('[S8] a message that the gateway refuses says why, and does not ask to send it again', async () => {
  await using studio = await startStudio(browser());
  const [{ id }] = (await studio.gateway.api('/api/spaces')).items;
  const { page } = await studio.open(`/spaces/${id}`);
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('x'.repeat(40_000));
  await field.press('Enter');
  const note = page.getByRole('alert').filter({ hasText: 'The message was not sent.' });
  await note.getByText('text must be 32000 characters or less, not 40000.').waitFor();
  expect(await note.getByRole('button').count()).toBe(0);
  expect(await field.inputValue()).toHaveLength(40_000);
});

test('[S9] a message that was posted without a confirmation, and whose draft was removed, can be posted again later', async () => {
  await using studio = await startStudio(browser());
  const { api } = studio.gateway;
  const [{ id }] = (await api('/api/spaces')).items;
  const { page } = await studio.open(`/spaces/${id}`);
  const entityId = await studio.person('Ada');
  await page.route('**/messages', async (route) => {
    if (route.request().method() !== 'POST') return await route.continue();
    await api(`/api/spaces/${id}/messages`, { entityId, ...route.request().postDataJSON() });
    await route.abort();
  });
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Ok.');
  await field.press('Enter');
  await page.getByText('Send it again unchanged: it is posted once.').waitFor();
  await page.unroute('**/messages');
  // The message has arrived, so its author does not send it again.
  await field.fill('');
  await field.fill('Ok.');
  await field.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('');
  const { items } = await api(`/api/spaces/${id}/messages?limit=100`);
  expect(items.filter(({ text }: { text: string }) => text === 'Ok.')).toHaveLength(2);
});
